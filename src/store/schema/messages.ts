/**
 * Templates, contents, emails, and the attempts to deliver them.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import type { QueueClass } from '../../base/queue-class.ts'
import { blob, type InferSelectModel, integer, primaryKey, sqliteTable, text } from '../drizzle.ts'
import { bool, jsonColumn, stepList } from './columns.ts'
import type { Snapshot, StoredAttachment, StoredFault } from './json-values.ts'
import type { ContentClass, EmailStatus, QueueState, SourceType } from './words.ts'

export const templates = sqliteTable('templates', {
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
  version: integer('version').notNull().default(1),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const contents = sqliteTable('contents', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  shareKey: text('share_key'),
  subject: text('subject').notNull(),
  /** The body as given; null once retention has cleared it. */
  body: text('body'),
  /** The body is plain text, not HTML. */
  isText: bool('is_text').notNull().default(false),
  /** The text part beside HTML; null without one, and once retention has cleared it. */
  text: text('text'),
  /** Null without attachments, and once retention has cleared them. */
  attachments: jsonColumn('attachments').$type<StoredAttachment[]>(),
  /** The size of the attachments that are stored in `chunks`. */
  chunkBytes: integer('chunk_bytes').notNull().default(0),
  /** The links of a body that retention has cleared; null while the body exists. */
  links: jsonColumn('links').$type<string[]>(),
  /** Subject, body and text are no templates. */
  isLiteral: bool('is_literal').notNull().default(false),
  /** What was lost, guessed or mended when the message was read, in sentences; null = nothing. */
  warnings: jsonColumn('warnings').$type<string[]>(),
  /** The fields as submitted; null: each recipient gets its own address in To. */
  recipientFields: jsonColumn('recipient_fields').$type<{ to: string | null; cc: string | null }>(),
  lastUsedAt: integer('last_used_at').notNull(),
  createdAt: integer('created_at').notNull(),
})

/** Parts of a value too large for one row: a content's attachments, or a received message. */
export const chunks = sqliteTable(
  'chunks',
  {
    ownerId: text('owner_id').notNull(),
    number: integer('number').notNull(),
    bytes: blob('bytes', { mode: 'buffer' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.ownerId, table.number] })],
)

export const emails = sqliteTable('emails', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  contactId: text('contact_id').notNull(),
  contentId: text('content_id').notNull(),
  sourceType: text('source_type').$type<SourceType>().notNull(),
  templateId: text('template_id'),
  campaignId: text('campaign_id'),
  workflowExecutionId: text('workflow_execution_id'),
  workflowStepExecutionId: text('workflow_step_execution_id'),
  recipient: text('recipient').notNull(),
  /** In A-labels. */
  recipientDomain: text('recipient_domain').notNull(),
  toName: text('to_name'),
  fromAddress: text('from_address').notNull(),
  fromName: text('from_name'),
  replyTo: text('reply_to'),
  /** The template; once an attempt has rendered it, the rendered subject. */
  subject: text('subject').notNull(),
  contentClass: text('content_class').$type<ContentClass>().notNull(),
  isTracked: bool('is_tracked').notNull(),
  headers: jsonColumn('headers').$type<Record<string, string>>(),
  /** Null once retention has cleared it, and for mail of the server to its users. */
  variables: jsonColumn('variables').$type<Snapshot>(),
  messageId: text('message_id').notNull(),
  providerId: text('provider_id'),
  /** For received mail: the email that the message replies to. */
  answeredEmailId: text('answered_email_id'),
  state: text('state').$type<QueueState>().notNull(),
  status: text('status').$type<EmailStatus>().notNull(),
  queueClass: integer('queue_class').$type<QueueClass>().notNull(),
  /** When the email is due; set while it is queued or deferred. */
  dueAt: integer('due_at'),
  /** The time of the next attempt, written with the lease before the current attempt begins. */
  retryAt: integer('retry_at'),
  leaseUntil: integer('lease_until'),
  attemptCount: integer('attempt_count').notNull().default(0),
  failureCount: integer('failure_count').notNull().default(0),
  giveUpAt: integer('give_up_at').notNull(),
  heldAt: integer('held_at'),
  error: text('error'),
  sentAt: integer('sent_at'),
  deliveredAt: integer('delivered_at'),
  openedAt: integer('opened_at'),
  clickedAt: integer('clicked_at'),
  bouncedAt: integer('bounced_at'),
  complainedAt: integer('complained_at'),
  opens: integer('opens').notNull().default(0),
  clicks: integer('clicks').notNull().default(0),
  /** Opens by prefetchers, scanners and privacy proxies, counted separately. */
  machineOpens: integer('machine_opens').notNull().default(0),
  machineClicks: integer('machine_clicks').notNull().default(0),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  /** The faults of the latest rendering; null without any. */
  templateFaults: jsonColumn('template_faults').$type<StoredFault[]>(),
  /** A test of a campaign: it goes out whether or not its contact is subscribed. */
  isTest: bool('is_test').notNull().default(false),
  /** Mail of the server to its users: outside reputation and billing. */
  isPlatform: bool('is_platform').notNull().default(false),
  /** The email goes out although the recipient has complained about mail of the project. */
  ignoresComplaint: bool('ignores_complaint').notNull().default(false),
  /** Bit set of the campaign figures that include this email (bits: 0010_campaigns.sql). */
  figures: integer('figures').notNull().default(0),
  /**
   * The snapshot of mail of the server to its users, sealed (`messages/delivery/prepare.ts`).
   * Whoever writes a final state clears it.
   */
  sealedVariables: text('sealed_variables'),
  /** See `store/shelves.ts`. */
  shelf: integer('shelf'),
})

export const attempts = sqliteTable('attempts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  emailId: text('email_id').notNull(),
  at: integer('at').notNull(),
  durationMs: integer('duration_ms').notNull(),
  result: text('result').notNull(),
  class: text('class'),
  host: text('host'),
  address: text('address'),
  tls: text('tls'),
  replyCode: integer('reply_code'),
  enhancedCode: text('enhanced_code'),
  replyText: text('reply_text'),
  error: text('error'),
  isMaybeDelivered: bool('is_maybe_delivered').notNull().default(false),
  steps: stepList('steps').notNull(),
  /** The final recipient that a report names. */
  finalRecipient: text('final_recipient'),
})

export const holds = sqliteTable('holds', {
  domain: text('domain').primaryKey(),
  heldAt: integer('held_at').notNull(),
})

export type Template = InferSelectModel<typeof templates>

export type Content = InferSelectModel<typeof contents>

export type Email = InferSelectModel<typeof emails>

export type Attempt = InferSelectModel<typeof attempts>

export type Hold = InferSelectModel<typeof holds>
