/**
 * Suppressed addresses, suppressions that wait, and the evidence for them.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { type InferSelectModel, integer, sqliteTable, text } from '../drizzle.ts'
import type { HeldCause, SuppressionReason } from './words.ts'

export const suppressions = sqliteTable('suppressions', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  address: text('email').notNull(),
  reason: text('reason').$type<SuppressionReason>().notNull(),
  source: text('source').notNull(),
  emailId: text('email_id'),
  createdAt: integer('created_at').notNull(),
  /**
   * The second reason, if the server suppressed the address first and a person suppressed it later.
   */
  laterReason: text('later_reason').$type<SuppressionReason>(),
})

/** Automatic suppressions that wait for a confirmation. */
export const heldSuppressions = sqliteTable('held_suppressions', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  contactId: text('contact_id').notNull(),
  address: text('email').notNull(),
  /** In A-labels. */
  domain: text('domain').notNull(),
  reason: text('reason').$type<SuppressionReason>().notNull(),
  source: text('source').notNull(),
  emailId: text('email_id').notNull(),
  cause: text('cause').$type<HeldCause>().notNull(),
  /** When the domain is checked again; for cause `domain` only. */
  dueAt: integer('due_at'),
  createdAt: integer('created_at').notNull(),
})

/** Recipient domains that seem to exist (`messages/outcome/suppression-guards.ts`). */
export const knownDomains = sqliteTable('known_domains', {
  domain: text('domain').primaryKey(),
  createdAt: integer('created_at').notNull(),
})

export const strikes = sqliteTable('strikes', {
  id: integer('id').primaryKey(),
  projectId: text('project_id').notNull(),
  address: text('email').notNull(),
  emailId: text('email_id').notNull(),
  reason: text('reason').notNull(),
  at: integer('at').notNull(),
})

export type Suppression = InferSelectModel<typeof suppressions>
