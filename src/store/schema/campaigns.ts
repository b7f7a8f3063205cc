/**
 * Campaigns: the definition that people edit, and the progress that the server writes.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { type InferSelectModel, integer, primaryKey, sqliteTable, text } from '../drizzle.ts'
import { bool, jsonColumn } from './columns.ts'
import type { AudienceType, CampaignStatus, ContentClass, PauseReason } from './words.ts'

export const campaigns = sqliteTable('campaigns', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  name: text('name').notNull(),
  description: text('description'),
  subject: text('subject').notNull(),
  body: text('body').notNull(),
  fromAddress: text('from_address').notNull(),
  fromDomain: text('from_domain').notNull(),
  fromName: text('from_name'),
  replyTo: text('reply_to'),
  type: text('type').$type<ContentClass>().notNull().default('MARKETING'),
  audienceType: text('audience_type').$type<AudienceType>().notNull().default('ALL'),
  audienceCondition: jsonColumn('audience_condition'),
  segmentId: text('segment_id'),
  /** The template that the campaign was made from. */
  templateId: text('template_id'),
  status: text('status').$type<CampaignStatus>().notNull().default('DRAFT'),
  scheduledFor: integer('scheduled_for'),
  maxPerHour: integer('max_per_hour'),
  version: integer('version').notNull().default(1),
  /** An estimate, null until the audience has been counted; the number of rows once sent. */
  totalRecipients: integer('total_recipients'),
  /** Set while a campaign that is SENDING is paused, and while one that is SCHEDULED is fenced. */
  pausedAt: integer('paused_at'),
  pauseReason: text('pause_reason').$type<PauseReason>(),
  /** The figures that the brake saw. */
  pauseDetails: jsonColumn('pause_details').$type<Record<string, unknown>>(),
  sentAt: integer('sent_at'),
  cancelledAt: integer('cancelled_at'),
  archivedAt: integer('archived_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

/** A row exists from the moment the campaign begins to send. */
export const campaignProgress = sqliteTable('campaign_progress', {
  campaignId: text('campaign_id').primaryKey(),
  projectId: text('project_id').notNull(),
  begunAt: integer('begun_at').notNull(),
  /** The number of the last contact that was looked at. */
  cursor: integer('cursor').notNull().default(0),
  /** Contacts up to this number existed when the campaign began. */
  lastNumber: integer('last_number').notNull(),
  expandedAt: integer('expanded_at'),
  /** When the next row may be due under `maxPerHour`. */
  pacedAt: integer('paced_at').notNull().default(0),
  /** The untried rows have slots of a pace that is over: they are put aside and get new ones. */
  hasOldSlots: bool('has_old_slots').notNull().default(false),
  rowsMade: integer('rows_made').notNull().default(0),
  skippedUnsubscribed: integer('skipped_unsubscribed').notNull().default(0),
  skippedDeleted: integer('skipped_deleted').notNull().default(0),
  sentCount: integer('sent_count').notNull().default(0),
  deliveredCount: integer('delivered_count').notNull().default(0),
  openedCount: integer('opened_count').notNull().default(0),
  clickedCount: integer('clicked_count').notNull().default(0),
  bouncedCount: integer('bounced_count').notNull().default(0),
  complainedCount: integer('complained_count').notNull().default(0),
  unsubscribedCount: integer('unsubscribed_count').notNull().default(0),
  suppressedCount: integer('suppressed_count').notNull().default(0),
  /** Failed emails, except for those in `failedUnsubscribedCount`. */
  failedCount: integer('failed_count').notNull().default(0),
  /** Failed emails whose contact unsubscribed after the row was made. */
  failedUnsubscribedCount: integer('failed_unsubscribed_count').notNull().default(0),
  machineOpens: integer('machine_opens').notNull().default(0),
  machineClicks: integer('machine_clicks').notNull().default(0),
  hardBounceCount: integer('hard_bounce_count').notNull().default(0),
  /** Emails refused for reputation or content. */
  refusalCount: integer('refusal_count').notNull().default(0),
  authenticationRefusalCount: integer('authentication_refusal_count').notNull().default(0),
  resumedAt: integer('resumed_at'),
  /** How often the brake has paused the campaign. */
  brakeCount: integer('brake_count').notNull().default(0),
  /** The figures from which the brake counts since the last resume. */
  brakeBase: jsonColumn('brake_base').$type<Record<string, number>>(),
})

export const campaignLinks = sqliteTable(
  'campaign_links',
  {
    campaignId: text('campaign_id').notNull(),
    url: text('url').notNull(),
    clicks: integer('clicks').notNull(),
    /** Emails with a click on the link. */
    clickers: integer('clickers').notNull(),
  },
  (table) => [primaryKey({ columns: [table.campaignId, table.url] })],
)

export type Campaign = InferSelectModel<typeof campaigns>

export type CampaignProgress = InferSelectModel<typeof campaignProgress>
