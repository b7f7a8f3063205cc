/**
 * The use of a project by the month, the notices about it, and what Stripe was told.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { type InferSelectModel, integer, primaryKey, sqliteTable, text } from '../drizzle.ts'
import { bool, jsonColumn } from './columns.ts'
import type { MeteringState, UsageCategory } from './words.ts'

/** Emails in a month, which begins at `startsAt` (UTC), by category. */
export const usageMonths = sqliteTable(
  'usage_months',
  {
    projectId: text('project_id').notNull(),
    startsAt: integer('starts_at').notNull(),
    transactional: integer('transactional').notNull().default(0),
    campaigns: integer('campaigns').notNull().default(0),
    workflows: integer('workflows').notNull().default(0),
    inbound: integer('inbound').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.startsAt] })],
)

/** Emails of projects without a subscription that their owner has deleted in the month. */
export const ownerMonths = sqliteTable(
  'owner_months',
  {
    userId: text('user_id').notNull(),
    startsAt: integer('starts_at').notNull(),
    emails: integer('emails').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.startsAt] })],
)

/** The notices that members got in a month, each once for a limit. */
export const usageNotices = sqliteTable(
  'usage_notices',
  {
    projectId: text('project_id').notNull(),
    startsAt: integer('starts_at').notNull(),
    /** 'shared': the limit of projects without a subscription, for all categories together. */
    category: text('category').$type<UsageCategory | 'shared'>().notNull(),
    percent: integer('percent').notNull(),
    limitEmails: integer('limit_emails').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.projectId, table.startsAt, table.category, table.percent, table.limitEmails],
    }),
  ],
)

/** A batch is one meter event of Stripe, whose identifier is the batch's id. */
export const meteringBatches = sqliteTable('metering_batches', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  customer: text('customer').notNull(),
  credits: integer('credits').notNull(),
  /** The timestamp of the meter event. */
  occurredAt: integer('occurred_at').notNull(),
  state: text('state').$type<MeteringState>().notNull().default('waiting'),
  firstTriedAt: integer('first_tried_at'),
  lastTriedAt: integer('last_tried_at'),
  error: text('error'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  /** The emails of the batch, in the order of their events; empty once they are charged. */
  emailIds: jsonColumn('email_ids').$type<string[]>().notNull(),
  /**
   * The id of the meter of the batch's tries; '' if they used several. Null before the first try,
   * and for batches from before this column.
   */
  meter: text('meter'),
  /** The batch is fenced. */
  isHeld: bool('is_held').notNull().default(false),
})

/** The webhook events of Stripe that have taken effect. */
export const stripeEvents = sqliteTable('stripe_events', {
  id: text('id').primaryKey(),
  createdAt: integer('created_at').notNull(),
})

export type MeteringBatch = InferSelectModel<typeof meteringBatches>
