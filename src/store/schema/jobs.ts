/**
 * Background jobs, their progress, and the files that they import.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { blob, type InferSelectModel, integer, primaryKey, sqliteTable, text } from '../drizzle.ts'
import { jsonColumn } from './columns.ts'
import type { JobState } from './words.ts'

export const jobs = sqliteTable('jobs', {
  id: text('id').primaryKey(),
  kind: text('kind').notNull(),
  projectId: text('project_id'),
  payload: jsonColumn('payload').notNull(),
  state: text('state').$type<JobState>().notNull(),
  priority: integer('priority').notNull().default(0),
  runAt: integer('run_at').notNull(),
  attempts: integer('attempts').notNull().default(0),
  maxAttempts: integer('max_attempts').notNull(),
  leaseId: text('lease_id'),
  leaseUntil: integer('lease_until'),
  uniqueKey: text('unique_key'),
  progress: integer('progress').notNull().default(0),
  result: jsonColumn('result'),
  error: text('error'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  completedAt: integer('completed_at'),
  /** How often the process crashed or hung while the job ran. */
  losses: integer('losses').notNull().default(0),
  /** The user who asked for the job; null for a key and for the server itself. */
  userId: text('user_id'),
  /** When the job was first claimed. */
  startedAt: integer('started_at'),
  /** How many rows, addresses or events are done. */
  done: integer('done').notNull().default(0),
  /** How many there are to do; null while it is not known. */
  total: integer('total'),
  /** When somebody asked the job to stop; a running job stops after its step. */
  cancelledAt: integer('cancelled_at'),
})

export const jobProgress = sqliteTable('job_progress', {
  jobId: text('job_id').primaryKey(),
  state: jsonColumn('state').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const importChunks = sqliteTable(
  'import_chunks',
  {
    uploadId: text('upload_id').notNull(),
    number: integer('number').notNull(),
    bytes: blob('bytes', { mode: 'buffer' }).notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.uploadId, table.number] })],
)

export type Job = InferSelectModel<typeof jobs>
