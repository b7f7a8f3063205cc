/**
 * The generations of the database, and the projects whose fence stands.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { type InferSelectModel, integer, sqliteTable, text } from '../drizzle.ts'
import { bool } from './columns.ts'
import type { FenceCause } from './words.ts'

/** Each fence begins a generation. */
export const generations = sqliteTable('generations', {
  number: integer('number').primaryKey(),
  cause: text('cause').$type<FenceCause>().notNull(),
  /** The last number of an event before the fence. */
  eventSeq: integer('event_seq').notNull(),
  setAt: integer('set_at').notNull(),
})

/** Rows with a number or a time up to those of a fence are fenced. */
export const fences = sqliteTable('fences', {
  /** '' for the server itself. */
  projectId: text('project_id').primaryKey(),
  generation: integer('generation').notNull(),
  setAt: integer('set_at').notNull(),
  eventSeq: integer('event_seq').notNull(),
  executionNumber: integer('execution_number').notNull(),
  deliveryNumber: integer('delivery_number').notNull(),
  /** Emails accepted up to this instant are fenced. */
  mailUntil: integer('mail_until').notNull(),
  /** All waiting mail has been put aside, so mail that is due is newer than the fence. */
  isSettled: bool('is_settled').notNull().default(false),
})

export type Generation = InferSelectModel<typeof generations>

export type Fence = InferSelectModel<typeof fences>
