/** The values of columns that hold one of a fixed set of words. */

export type Role = 'OWNER' | 'ADMIN' | 'MEMBER'
/** How a user logs in: exactly one method for each address. */
export type AccountMethod = 'PASSWORD' | 'GITHUB' | 'GOOGLE' | 'OIDC'
export type TokenPurpose = 'verify-email' | 'reset-password'
export type TrackingMode = 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY'
/** What a fault in a template of a send request does. */
export type OnTemplateFault = 'send' | 'refuse'
export type DisabledReason =
  | 'PAYMENT_FAILED'
  | 'EMAIL_REPUTATION'
  | 'PHISHING_DETECTED'
  | 'CARD_VERIFICATION_FAILED'
  | 'MANUAL'
export type DomainStatus = 'Pending' | 'Success' | 'Failed' | 'TemporaryFailure'
export type ContentClass = 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
export type SourceType = 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
/**
 * How a person left; `unknown`: recorded by a version that did not record the way, or told by the project
 * (`hasLeft`) or by another service's export. `project`: the project unsubscribed an address that bounces;
 * only the undoing of bounces asks for it.
 */
export type WishKind = 'page' | 'one-click' | 'mail' | 'api' | 'complaint' | 'unknown' | 'project'
export type SuppressionReason = 'HARD_BOUNCE' | 'COMPLAINT' | 'MANUAL' | 'STRIKES'
/** A held suppression waits for an operator (`fuse`) or for another check of the domain (`domain`). */
export type HeldCause = 'fuse' | 'domain'
export type JobState = 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'
export type QueueState =
  | 'queued'
  | 'deferred'
  | 'held'
  | 'paused'
  | 'sending'
  | 'delivered'
  | 'relayed'
  | 'bounced'
  | 'failed'
  | 'suppressed'
  | 'received'
/** `held`: received before the database was brought back. */
export type InboundState = 'pending' | 'held' | 'processed' | 'failed'
export type PendingKind = 'reports' | 'mail'
export type InboundKind = 'bounce' | 'complaint' | 'auto-reply' | 'unsubscribe' | 'mail' | 'other'
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
/** The kind of a value in a contact's data; lists and objects are 'other'. */
export type ValueKind = 'boolean' | 'number' | 'date' | 'string' | 'other'
export type SegmentType = 'DYNAMIC' | 'STATIC'
export type CampaignStatus = 'DRAFT' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'CANCELLED'
export type AudienceType = 'ALL' | 'SEGMENT' | 'FILTERED'
export type PauseReason =
  | 'manual'
  | 'brake'
  | 'domain_unverified'
  | 'condition_invalid'
  | 'segment_missing'
  | 'project_disabled'
  | 'billing_limit'
  | 'restored'
export type TriggerType = 'EVENT' | 'MANUAL' | 'SCHEDULE'
export type StepType =
  | 'TRIGGER'
  | 'SEND_EMAIL'
  | 'DELAY'
  | 'WAIT_FOR_EVENT'
  | 'CONDITION'
  | 'EXIT'
  | 'WEBHOOK'
  | 'UPDATE_CONTACT'
export type ExecutionStatus =
  | 'RUNNING'
  | 'WAITING'
  | 'COMPLETED'
  | 'EXITED'
  | 'FAILED'
  | 'CANCELLED'
export type StepExecutionStatus =
  | 'PENDING'
  | 'SCHEDULED'
  | 'WAITING'
  | 'RUNNING'
  | 'COMPLETED'
  | 'SKIPPED'
  | 'FAILED'
export type WaitOutcome = 'EVENT' | 'TIMEOUT'
export type WebhookStatus = 'PENDING' | 'SUCCEEDED' | 'FAILED'
export type UsageCategory = 'transactional' | 'campaigns' | 'workflows' | 'inbound'
/** `settling`: whether Stripe has counted the batch is unknown. */
export type MeteringState = 'waiting' | 'settling' | 'charged' | 'dropped'
/**
 * `start`: a server found at its start that its database is older than it was. `lost-log`: a server or a
 * command found that the write-ahead log is gone.
 */
export type FenceCause = 'restore' | 'command' | 'start' | 'lost-log'
/** What the counts of emails are about. */
export type AnalyticsKind = 'all' | 'provider' | 'campaign' | 'template' | 'workflow'
export type AnalyticsStream = Exclude<SourceType, 'INBOUND'>
