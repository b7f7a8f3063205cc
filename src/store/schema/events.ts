/**
 * Events, and how far each follower has read them.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { type InferSelectModel, integer, sqliteTable, text } from '../drizzle.ts'
import { jsonColumn } from './columns.ts'

export const events = sqliteTable('events', {
  seq: integer('seq').primaryKey({ autoIncrement: true }),
  id: text('id').notNull(),
  projectId: text('project_id').notNull(),
  name: text('name').notNull(),
  contactId: text('contact_id'),
  emailId: text('email_id'),
  /**
   * An object for the server's own events. Clients' events may have any JSON: `unwrapEventData`.
   */
  data: jsonColumn('data').$type<Record<string, unknown>>(),
  createdAt: integer('created_at').notNull(),
  /**
   * How many executions of workflows led to the event, one after the other. Null for none, and for
   * events of an email: the row of the email names the execution.
   */
  depth: integer('depth'),
})

export const eventFollowers = sqliteTable('event_followers', {
  name: text('name').primaryKey(),
  seq: integer('seq').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export type EventRow = InferSelectModel<typeof events>
