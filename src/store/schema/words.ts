/** The words that columns hold. */

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
