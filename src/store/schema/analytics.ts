/**
 * Counts of emails and events by time, and the view that followers of events count from.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import {
  type InferSelectModel,
  integer,
  primaryKey,
  sqliteTable,
  sqliteView,
  text,
} from '../drizzle.ts'
import { bool } from './columns.ts'
import type { AnalyticsKind, AnalyticsStream, SourceType } from './words.ts'

/**
 * The subjects of counts. `name`: an id or a text; '' for all subjects beyond the limit of a day.
 */
export const analyticsSubjects = sqliteTable('analytics_subjects', {
  id: integer('id').primaryKey(),
  projectId: text('project_id').notNull(),
  kind: text('kind').$type<Exclude<AnalyticsKind, 'all'> | 'url' | 'event'>().notNull(),
  name: text('name').notNull(),
  /** The day (UTC) of the first bucket with the subject. */
  firstDay: integer('first_day').notNull().default(0),
})

/** Emails by the instant of their acceptance. `span`: the length of a bucket in ms. */
export const mailCounts = sqliteTable(
  'mail_counts',
  {
    projectId: text('project_id').notNull(),
    kind: text('kind').$type<AnalyticsKind>().notNull(),
    span: integer('span').notNull(),
    startsAt: integer('starts_at').notNull(),
    stream: text('stream').$type<AnalyticsStream>().notNull(),
    /** The id of an `analyticsSubjects` row; 0 for all. */
    subject: integer('subject').notNull(),
    /** Emails that were handed over, or refused for good by the receiver or DNS. */
    sent: integer('sent').notNull().default(0),
    /** Emails that were handed over and did not bounce later. */
    delivered: integer('delivered').notNull().default(0),
    opened: integer('opened').notNull().default(0),
    clicked: integer('clicked').notNull().default(0),
    openedAndClicked: integer('opened_and_clicked').notNull().default(0),
    hardBounced: integer('hard_bounced').notNull().default(0),
    softBounced: integer('soft_bounced').notNull().default(0),
    complained: integer('complained').notNull().default(0),
    unsubscribed: integer('unsubscribed').notNull().default(0),
  },
  (table) => [
    primaryKey({
      columns: [
        table.projectId,
        table.kind,
        table.span,
        table.startsAt,
        table.stream,
        table.subject,
      ],
    }),
  ],
)

/** Clicks on links, by the instant of the email's acceptance. */
export const linkCounts = sqliteTable(
  'link_counts',
  {
    projectId: text('project_id').notNull(),
    span: integer('span').notNull(),
    startsAt: integer('starts_at').notNull(),
    stream: text('stream').$type<AnalyticsStream>().notNull(),
    subject: integer('subject').notNull(),
    clicks: integer('clicks').notNull().default(0),
    /** Emails whose first click was on this link. */
    firstClicks: integer('first_clicks').notNull().default(0),
  },
  (table) => [
    primaryKey({
      columns: [table.projectId, table.span, table.startsAt, table.stream, table.subject],
    }),
  ],
)

/** Events by their own instant. `stream`: the stream of the event's email, '' without an email. */
export const eventCounts = sqliteTable(
  'event_counts',
  {
    projectId: text('project_id').notNull(),
    span: integer('span').notNull(),
    startsAt: integer('starts_at').notNull(),
    stream: text('stream').$type<AnalyticsStream | ''>().notNull(),
    subject: integer('subject').notNull(),
    events: integer('events').notNull().default(0),
  },
  (table) => [
    primaryKey({
      columns: [table.projectId, table.span, table.startsAt, table.stream, table.subject],
    }),
  ],
)

/**
 * Events with all that analytics and billing need of their emails. Columns: see `deletedEvents`.
 */
export const countedEvents = sqliteView('counted_events', {
  seq: integer('seq').notNull(),
  projectId: text('project_id').notNull(),
  name: text('name').notNull(),
  emailId: text('email_id'),
  contactId: text('contact_id'),
  createdAt: integer('created_at').notNull(),
  detail: text('detail'),
  isFirst: bool('is_first'),
  acceptedAt: integer('accepted_at'),
  sourceType: text('source_type').$type<SourceType>(),
  campaignId: text('campaign_id'),
  templateId: text('template_id'),
  workflowId: text('workflow_id'),
  recipientDomain: text('recipient_domain'),
  sentAt: integer('sent_at'),
  deliveredAt: integer('delivered_at'),
  openedAt: integer('opened_at'),
  clickedAt: integer('clicked_at'),
  isPlatform: bool('is_platform'),
  isTest: bool('is_test'),
}).existing()

/**
 * Events that were deleted before both followers had counted them. The email's columns are null
 * without an email, or when the email was deleted.
 */
export const deletedEvents = sqliteTable('deleted_events', {
  seq: integer('seq').primaryKey(),
  projectId: text('project_id').notNull(),
  name: text('name').notNull(),
  emailId: text('email_id'),
  contactId: text('contact_id'),
  createdAt: integer('created_at').notNull(),
  /**
   * The type of a bounce, the link of a click, the reason of an unsubscription; 'acceptance' for a
   * failure or a suppression that came with the acceptance of its email.
   */
  detail: text('detail'),
  /** Whether it is the email's first open, click or unsubscription. */
  isFirst: bool('is_first'),
  acceptedAt: integer('accepted_at'),
  sourceType: text('source_type').$type<SourceType>(),
  campaignId: text('campaign_id'),
  templateId: text('template_id'),
  workflowId: text('workflow_id'),
  recipientDomain: text('recipient_domain'),
  sentAt: integer('sent_at'),
  deliveredAt: integer('delivered_at'),
  openedAt: integer('opened_at'),
  clickedAt: integer('clicked_at'),
  isPlatform: bool('is_platform'),
  isTest: bool('is_test'),
  /** The first server that the email was offered to; null if a smarthost took it. */
  host: text('host'),
})

export type AnalyticsSubject = InferSelectModel<typeof analyticsSubjects>

/** Without `host`. */
export type CountedEvent = Omit<InferSelectModel<typeof deletedEvents>, 'host'>
