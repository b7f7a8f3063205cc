/**
 * The tables as drizzle knows them, one to one with `migrations/`. Ids are UUIDv7 text, instants
 * integer epoch milliseconds (columns ending in _at), booleans integers, JSON text.
 */
import {
  blob,
  customType,
  type InferSelectModel,
  integer,
  primaryKey,
  sqliteTable,
  text,
} from './drizzle.ts'
import { packSteps, type StoredStep, unpackSteps } from './steps.ts'

const bool = (name: string) => integer(name, { mode: 'boolean' })
const json = (name: string) => text(name, { mode: 'json' })
const stepList = customType<{ data: StoredStep[]; driverData: string }>({
  dataType: () => 'text',
  toDriver: packSteps,
  fromDriver: unpackSteps,
})

export const users = sqliteTable('users', {
  id: text('id').primaryKey(),
  email: text('email').notNull(),
  passwordHash: text('password_hash'),
  isSandbox: bool('is_sandbox').notNull().default(false),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const projects = sqliteTable('projects', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  publicKey: text('public_key').notNull(),
  secretDigest: text('secret_digest').notNull(),
  secretHint: text('secret_hint').notNull(),
  areKeysSandbox: bool('are_keys_sandbox').notNull().default(false),
  isDisabled: bool('is_disabled').notNull().default(false),
  disabledReason: text('disabled_reason').$type<DisabledReason>(),
  tracking: text('tracking').$type<TrackingMode>().notNull().default('ENABLED'),
  language: text('language').notNull().default('en'),
  contactCount: integer('contact_count').notNull().default(0),
  subscribedCount: integer('subscribed_count').notNull().default(0),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const memberships = sqliteTable(
  'memberships',
  {
    userId: text('user_id').notNull(),
    projectId: text('project_id').notNull(),
    role: text('role').$type<Role>().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.projectId] })],
)

export const domains = sqliteTable('domains', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  domain: text('domain').notNull(),
  isVerified: bool('is_verified').notNull().default(false),
  isTrusted: bool('is_trusted').notNull().default(false),
  status: text('status').$type<DomainStatus>().notNull().default('Pending'),
  rsaSelector: text('rsa_selector').notNull(),
  rsaPrivateKey: text('rsa_private_key').notNull(),
  rsaPublicKey: text('rsa_public_key').notNull(),
  ed25519Selector: text('ed25519_selector').notNull(),
  ed25519PrivateKey: text('ed25519_private_key').notNull(),
  ed25519PublicKey: text('ed25519_public_key').notNull(),
  isEd25519Found: bool('is_ed25519_found').notNull().default(false),
  isReturnPathFound: bool('is_return_path_found').notNull().default(false),
  /** The domain's own MX is this server: its mailboxes are taken in. */
  isMxFound: bool('is_mx_found').notNull().default(false),
  findings: json('findings').$type<RecordFinding[]>(),
  checkedAt: integer('checked_at'),
  failedChecks: integer('failed_checks').notNull().default(0),
  failingSince: integer('failing_since'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const contacts = sqliteTable('contacts', {
  /** The order of lists and walks; nobody outside sees it. */
  number: integer('number').primaryKey({ autoIncrement: true }),
  id: text('id').notNull(),
  projectId: text('project_id').notNull(),
  email: text('email').notNull(),
  subscribed: bool('subscribed').notNull(),
  data: json('data').$type<ContactData>(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const contactFields = sqliteTable(
  'contact_fields',
  {
    projectId: text('project_id').notNull(),
    key: text('key').notNull(),
    kind: text('kind').$type<FieldKind>().notNull(),
    contacts: integer('contacts').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.key, table.kind] })],
)

export const contactSearchBacklog = sqliteTable('contact_search_backlog', {
  number: integer('number').primaryKey(),
})

export const suppressions = sqliteTable('suppressions', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  email: text('email').notNull(),
  reason: text('reason').$type<SuppressionReason>().notNull(),
  source: text('source').notNull(),
  emailId: text('email_id'),
  createdAt: integer('created_at').notNull(),
  /** Under which people put it on the list too, after a verdict of ours had. */
  laterReason: text('later_reason').$type<SuppressionReason>(),
  /** When the contact, unsubscribed by a verdict of ours, said that it wants no mail. */
  wishedAt: integer('wished_at'),
})

/** Suppressions by verdicts of ours that have to wait. */
export const heldSuppressions = sqliteTable('held_suppressions', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  contactId: text('contact_id').notNull(),
  email: text('email').notNull(),
  /** In A-labels. */
  domain: text('domain').notNull(),
  reason: text('reason').$type<SuppressionReason>().notNull(),
  source: text('source').notNull(),
  emailId: text('email_id').notNull(),
  cause: text('cause').$type<HeldCause>().notNull(),
  /** When the domain is asked for again; of cause `domain` only. */
  dueAt: integer('due_at'),
  createdAt: integer('created_at').notNull(),
})

/** Recipient domains that have taken mail or put it off. */
export const knownDomains = sqliteTable('known_domains', {
  domain: text('domain').primaryKey(),
  createdAt: integer('created_at').notNull(),
})

export const strikes = sqliteTable('strikes', {
  id: integer('id').primaryKey(),
  projectId: text('project_id').notNull(),
  email: text('email').notNull(),
  emailId: text('email_id').notNull(),
  reason: text('reason').notNull(),
  at: integer('at').notNull(),
})

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
  type: text('type').$type<ContentType>().notNull().default('MARKETING'),
  version: integer('version').notNull().default(1),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const contents = sqliteTable('contents', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  shareKey: text('share_key'),
  subject: text('subject').notNull(),
  /** As given; null once retention cleared it. */
  body: text('body'),
  /** A plain text instead of HTML. */
  isText: bool('is_text').notNull().default(false),
  /** The text part beside HTML, as given or received; null without one, or once retention cleared it. */
  text: text('text'),
  /** Null when there are none or retention cleared them. */
  attachments: json('attachments').$type<StoredAttachment[]>(),
  /** Octets of them in `chunks`. */
  chunkBytes: integer('chunk_bytes').notNull().default(0),
  /** The links of a body that retention cleared; null while the body is there. */
  links: json('links').$type<string[]>(),
  lastUsedAt: integer('last_used_at').notNull(),
  createdAt: integer('created_at').notNull(),
})

/** Of a value too large for its row: of a content's attachments, or a received message. */
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
  /** A-label form. */
  recipientDomain: text('recipient_domain').notNull(),
  toName: text('to_name'),
  fromAddress: text('from_address').notNull(),
  fromName: text('from_name'),
  replyTo: text('reply_to'),
  /** As given until an attempt rendered it. */
  subject: text('subject').notNull(),
  contentClass: text('content_class').$type<ContentType>().notNull(),
  isTracked: bool('is_tracked').notNull(),
  headers: json('headers').$type<Record<string, string>>(),
  variables: json('variables').$type<Snapshot>(),
  messageId: text('message_id').notNull(),
  providerId: text('provider_id'),
  /** Of received mail: the email that it answers. */
  answeredEmailId: text('answered_email_id'),
  state: text('state').$type<QueueState>().notNull(),
  status: text('status').$type<EmailStatus>().notNull(),
  queueClass: integer('queue_class').$type<QueueClass>().notNull(),
  /** Set while it waits for its turn: queued, deferred. */
  dueAt: integer('due_at'),
  /** The next attempt's time, written with the lease before dialling. */
  retryAt: integer('retry_at'),
  leaseId: text('lease_id'),
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
  /** Of prefetchers, scanners and privacy proxies: kept apart from people's. */
  machineOpens: integer('machine_opens').notNull().default(0),
  machineClicks: integer('machine_clicks').notNull().default(0),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  /** Of the latest rendering; null when there were none. */
  templateFaults: json('template_faults').$type<StoredFault[]>(),
})

export const attempts = sqliteTable('attempts', {
  id: integer('id').primaryKey(),
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
  /** Of a report: whom it says was not reached. */
  finalRecipient: text('final_recipient'),
})

export const events = sqliteTable('events', {
  seq: integer('seq').primaryKey({ autoIncrement: true }),
  id: text('id').notNull(),
  projectId: text('project_id').notNull(),
  name: text('name').notNull(),
  contactId: text('contact_id'),
  emailId: text('email_id'),
  /** Of the service's own events. Of clients' events any JSON: read by `unwrapEventData`. */
  data: json('data').$type<Record<string, unknown>>(),
  createdAt: integer('created_at').notNull(),
})

export const eventFollowers = sqliteTable('event_followers', {
  name: text('name').primaryKey(),
  seq: integer('seq').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const segments = sqliteTable('segments', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  name: text('name').notNull(),
  description: text('description'),
  type: text('type').$type<SegmentType>().notNull().default('DYNAMIC'),
  condition: json('condition'),
  trackMembership: bool('track_membership').notNull().default(false),
  memberCount: integer('member_count').notNull().default(0),
  countedAt: integer('counted_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const segmentMembers = sqliteTable(
  'segment_members',
  {
    segmentId: text('segment_id').notNull(),
    contactId: text('contact_id').notNull(),
    enteredAt: integer('entered_at').notNull(),
    /** Null while it is one. */
    exitedAt: integer('exited_at'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.segmentId, table.contactId] })],
)

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

export const jobProgress = sqliteTable('job_progress', {
  jobId: text('job_id').primaryKey(),
  state: json('state').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const holds = sqliteTable('holds', {
  domain: text('domain').primaryKey(),
  heldAt: integer('held_at').notNull(),
})

/** What commands ask the running server. */
export const serverQuestions = sqliteTable('server_questions', {
  id: text('id').primaryKey(),
  question: json('question').notNull(),
  /** Null until the server has answered. */
  answer: json('answer'),
  askedAt: integer('asked_at').notNull(),
})

export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    projectId: text('project_id').notNull(),
    key: text('key').notNull(),
    method: text('method').notNull(),
    path: text('path').notNull(),
    statusCode: integer('status_code'),
    /** The ids that the request was answered with. */
    answer: json('answer').$type<Record<string, unknown>>(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.key] })],
)

export const apiRequests = sqliteTable('api_requests', {
  id: text('id').notNull(),
  method: text('method').notNull(),
  path: text('path').notNull(),
  statusCode: integer('status_code').notNull(),
  durationMs: integer('duration_ms').notNull(),
  projectId: text('project_id'),
  userId: text('user_id'),
  authType: text('auth_type').$type<'apiKey' | 'jwt'>(),
  ip: text('ip'),
  userAgent: text('user_agent'),
  errorCode: text('error_code'),
  errorMessage: text('error_message'),
  requestSizeBytes: integer('request_size_bytes'),
  responseSizeBytes: integer('response_size_bytes'),
  createdAt: integer('created_at').notNull(),
})

export const jobs = sqliteTable('jobs', {
  id: text('id').primaryKey(),
  kind: text('kind').notNull(),
  projectId: text('project_id'),
  payload: json('payload').$type<unknown>().notNull(),
  state: text('state').$type<JobState>().notNull(),
  priority: integer('priority').notNull().default(0),
  runAt: integer('run_at').notNull(),
  attempts: integer('attempts').notNull().default(0),
  maxAttempts: integer('max_attempts').notNull(),
  leaseId: text('lease_id'),
  leaseUntil: integer('lease_until'),
  uniqueKey: text('unique_key'),
  progress: integer('progress').notNull().default(0),
  result: json('result').$type<unknown>(),
  error: text('error'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  completedAt: integer('completed_at'),
  /** How often the process ended, or fell silent, while it ran. */
  losses: integer('losses').notNull().default(0),
})

export const sandboxMessages = sqliteTable('sandbox_messages', {
  id: integer('id').primaryKey(),
  receivedAt: integer('received_at').notNull(),
  /** Its From field, as people read it. */
  sender: text('sender').notNull(),
  recipient: text('recipient').notNull(),
  subject: text('subject').notNull(),
  raw: blob('raw', { mode: 'buffer' }).notNull(),
})

export const inboundMessages = sqliteTable('inbound_messages', {
  id: text('id').primaryKey(),
  receivedAt: integer('received_at').notNull(),
  state: text('state').$type<InboundState>().notNull(),
  /** Empty for the null reverse path. */
  reversePath: text('reverse_path').notNull(),
  recipients: json('recipients').$type<InboundRecipient[]>().notNull(),
  clientAddress: text('client_address').notNull(),
  /** As the client named itself. */
  clientName: text('client_name').notNull(),
  /** Version and cipher; null for a session in clear. */
  tls: text('tls'),
  sizeBytes: integer('size_bytes').notNull(),
  /** Null once a report was read, or retention cleared it; empty where `chunks` hold the octets. */
  raw: blob('raw', { mode: 'buffer' }),
  /** The number of those chunks. */
  rawChunks: integer('raw_chunks').notNull().default(0),
  /** A reader's own ends at this message. */
  attempts: integer('attempts').notNull().default(0),
  kind: text('kind').$type<InboundKind>(),
  sender: text('sender'),
  subject: text('subject'),
  /** What was understood, for people. */
  summary: json('summary').$type<Record<string, unknown>>(),
  error: text('error'),
  processedAt: integer('processed_at'),
  /** To be read alone: it may be what ended a reader thread, or the process. */
  isSuspect: bool('is_suspect').notNull().default(false),
  /** How often the process ended while it was read alone. */
  interruptions: integer('interruptions').notNull().default(0),
  /** Since when it is read alone. */
  begunAt: integer('begun_at'),
  /** When an interrupted one is read again. */
  dueAt: integer('due_at').notNull().default(0),
  /** Why mail for people had less effect than other mail has. */
  remark: text('remark'),
})

/** One row: whether a process reads, or died while it did. */
export const inboundReading = sqliteTable('inbound_reading', {
  id: integer('id').primaryKey(),
  isUnderWay: bool('is_under_way').notNull(),
})

/** Kept by triggers. */
export const inboundUsage = sqliteTable('inbound_usage', {
  /** A project's id, `server`, or `reports`. */
  owner: text('owner').primaryKey(),
  bytes: integer('bytes').notNull(),
})

/** Received mail that was announced within the last hour. */
export const receivedRecently = sqliteTable('received_recently', {
  projectId: text('project_id').notNull(),
  /** An address that proved to be it, or the client's network. */
  sender: text('sender').notNull(),
  mailbox: text('mailbox').notNull(),
  at: integer('at').notNull(),
})

export const snsNotifications = sqliteTable('sns_notifications', {
  id: text('id').primaryKey(),
  receivedAt: integer('received_at').notNull(),
})

export type Role = 'OWNER' | 'ADMIN' | 'MEMBER'
export type TrackingMode = 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY'
export type DisabledReason =
  | 'PAYMENT_FAILED'
  | 'EMAIL_REPUTATION'
  | 'PHISHING_DETECTED'
  | 'CARD_VERIFICATION_FAILED'
  | 'MANUAL'
export type DomainStatus = 'Pending' | 'Success' | 'Failed' | 'TemporaryFailure'
export type ContentType = 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
export type SourceType = 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
export type SuppressionReason = 'HARD_BOUNCE' | 'COMPLAINT' | 'MANUAL' | 'STRIKES'
/** What a held suppression waits for: an operator's word, or a second look at the domain. */
export type HeldCause = 'fuse' | 'domain'
export type JobState = 'waiting' | 'active' | 'completed' | 'failed'
/** Transactional before workflow before campaign. */
export type QueueClass = 1 | 5 | 10
export type QueueState =
  | 'queued'
  | 'deferred'
  | 'held'
  | 'sending'
  | 'delivered'
  | 'relayed'
  | 'bounced'
  | 'failed'
  | 'suppressed'
  | 'received'
/** What waits to be read, what was read, and what could not be. */
export type InboundState = 'pending' | 'processed' | 'failed'
export type InboundKind = 'bounce' | 'complaint' | 'auto-reply' | 'unsubscribe' | 'mail' | 'other'
/** What a recipient of inbound mail is: decided at RCPT, acted on once the message was read. */
export type InboundRecipient =
  | { for: 'return-path'; address: string; emailId: string }
  | { for: 'unsubscribe'; address: string; emailId: string }
  | { for: 'mailbox'; address: string; projectId: string }
  | { for: 'server'; address: string }
export type EmailStatus =
  | 'PENDING'
  | 'SENDING'
  | 'SENT'
  | 'DELIVERED'
  | 'RECEIVED'
  | 'OPENED'
  | 'CLICKED'
  | 'BOUNCED'
  | 'COMPLAINED'
  | 'FAILED'
  | 'SUPPRESSED'
/** What a value of a contact's data is; lists and objects are 'other'. */
export type FieldKind = 'boolean' | 'number' | 'date' | 'string' | 'other'
export type SegmentType = 'DYNAMIC' | 'STATIC'
export type ContactData = Record<string, unknown>
/** What an email is rendered with: the contact as it was at acceptance, and the request's data. */
export type Snapshot = {
  stored: Record<string, unknown>
  request: Record<string, unknown>
}
/** `line` and `column` count from 1; null where they are unknown. */
export type StoredFault = {
  part: 'subject' | 'body' | 'text'
  line: number | null
  column: number | null
  message: string
}
export type StoredAttachment = {
  filename: string
  contentType: string
  /** base64; empty where the octets are in chunks. */
  content: string
  /** How many, behind those of the attachments before it. */
  chunks?: number
  contentId: string | null
  disposition: 'attachment' | 'inline'
}
/** What the last check found of one asked-for DNS record. */
export type RecordFinding = {
  purpose: string
  state: 'found' | 'missing' | 'different' | 'unknown'
  found: string[]
}

export type User = InferSelectModel<typeof users>
export type Project = InferSelectModel<typeof projects>
export type Domain = InferSelectModel<typeof domains>
/** `number` is left out: only queries need it. */
export type Contact = Omit<InferSelectModel<typeof contacts>, 'number'>
export type Segment = InferSelectModel<typeof segments>
export type Hold = InferSelectModel<typeof holds>
export type Suppression = InferSelectModel<typeof suppressions>
export type Template = InferSelectModel<typeof templates>
export type Content = InferSelectModel<typeof contents>
export type Email = InferSelectModel<typeof emails>
export type Attempt = InferSelectModel<typeof attempts>
export type EventRow = InferSelectModel<typeof events>
export type InboundMessage = InferSelectModel<typeof inboundMessages>
export type Job = InferSelectModel<typeof jobs>
