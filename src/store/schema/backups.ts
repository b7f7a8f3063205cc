/**
 * The attempts at backups that have ended.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { type InferSelectModel, integer, sqliteTable, text } from '../drizzle.ts'

export const backups = sqliteTable('backups', {
  number: integer('number').primaryKey({ autoIncrement: true }),
  origin: text('origin').$type<'command' | 'schedule'>().notNull(),
  /** The path of the archive; `-` for standard output. */
  file: text('file').notNull(),
  startedAt: integer('started_at').notNull(),
  endedAt: integer('ended_at').notNull(),
  /** Null for an attempt that succeeded. */
  error: text('error'),
  /** The size of the archive. */
  bytes: integer('bytes').notNull(),
  databaseBytes: integer('database_bytes').notNull(),
})

export type BackupRow = InferSelectModel<typeof backups>
