/**
 * Images that projects uploaded.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { type InferSelectModel, integer, sqliteTable, text } from '../drizzle.ts'

export const uploads = sqliteTable('uploads', {
  /** The last part of the image's URL: 32 hexadecimal digits and an extension. */
  name: text('name').primaryKey(),
  projectId: text('project_id').notNull(),
  /** The name of the file, a UUIDv7. */
  file: text('file').notNull(),
  /** The name that the client gave to the file. */
  filename: text('filename').notNull(),
  contentType: text('content_type').notNull(),
  sizeBytes: integer('size_bytes').notNull(),
  width: integer('width').notNull(),
  height: integer('height').notNull(),
  createdAt: integer('created_at').notNull(),
})

export type Upload = InferSelectModel<typeof uploads>
