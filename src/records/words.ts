/**
 * The constant words that fields of records take (statuses, types, roles …); a browser may import
 * them.
 */

/** How users log in. */
export const ACCOUNT_METHODS = ['PASSWORD', 'GITHUB_OAUTH', 'GOOGLE_OAUTH', 'OIDC'] as const

/** The kinds of mail that analytics tells apart. */
export const ANALYTICS_STREAMS = ['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW'] as const

export const AUDIENCE_TYPES = ['ALL', 'SEGMENT', 'FILTERED'] as const

export const CAMPAIGN_STATUSES = ['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED'] as const

export const CONTENT_CLASSES = ['TRANSACTIONAL', 'MARKETING', 'HEADLESS'] as const

/** The currencies in which a project can subscribe. */
export const CURRENCIES = ['usd', 'eur', 'gbp'] as const

/**
 * How the server delivers mail: it delivers nothing, delivers to the recipients' servers, or hands
 * all mail to a relay.
 */
export const DELIVERY_MODES = ['sandbox', 'direct', 'relay'] as const

/** Why a project is disabled. */
export const DISABLED_REASONS = [
  'PAYMENT_FAILED',
  'EMAIL_REPUTATION',
  'PHISHING_DETECTED',
  'CARD_VERIFICATION_FAILED',
  'MANUAL',
] as const

/** What a DNS record of a domain is for. */
export const DNS_PURPOSES = [
  'dkim',
  'dkim-ed25519',
  'return-path',
  'return-path-spf',
  'dmarc',
  'replies',
] as const

export const DOMAIN_STATUSES = ['Pending', 'Success', 'Failed', 'TemporaryFailure'] as const

export const EMAIL_STATUSES = [
  'PENDING',
  'SENDING',
  'SENT',
  'DELIVERED',
  'RECEIVED',
  'OPENED',
  'CLICKED',
  'BOUNCED',
  'COMPLAINED',
  'FAILED',
  'SUPPRESSED',
] as const

export const EXECUTION_STATUSES = [
  'RUNNING',
  'WAITING',
  'COMPLETED',
  'EXITED',
  'FAILED',
  'CANCELLED',
] as const

/**
 * The effect of a template fault in a send request: the email is sent anyway, or the request is
 * refused.
 */
export const FAULT_ACTIONS = ['send', 'refuse'] as const

/** The roles that members can be given. A project has one OWNER, and only an operator names another. */
export const GIVEN_ROLES = ['ADMIN', 'MEMBER'] as const

/** The length of the steps of figures by time. */
export const GRANULARITIES = ['hour', 'day'] as const

/** MIME types of the images that a project may upload. */
export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const

/** The form `xx` or `xx-XX`. */
export const LANGUAGE_PATTERN = /^[a-z]{2}(?:-[A-Z]{2})?$/

/** The kinds of records whose figures analytics ranks. */
export const LEADERBOARDS = ['campaigns', 'templates', 'workflows'] as const

/** Why a campaign is paused. */
export const PAUSE_REASONS = [
  'manual',
  'brake',
  'domain_unverified',
  'condition_invalid',
  'segment_missing',
  'project_disabled',
  'billing_limit',
  'restored',
] as const

/**
 * The states of an email in the queue: where it stands between the program and its receiver. `received`: it came in.
 */
export const QUEUE_STATES = [
  'queued',
  'deferred',
  'held',
  'paused',
  'sending',
  'delivered',
  'relayed',
  'bounced',
  'failed',
  'suppressed',
  'received',
] as const

/** The states of mail that waits or is being sent, which a filter may name as `waiting`. */
export const WAITING_STATES = ['queued', 'deferred', 'held', 'paused', 'sending'] as const

/** Whether a receiver takes a project's mail now. */
export const RECEIVER_STATES = ['open', 'slowed', 'closed', 'held'] as const

export const ROLES = ['OWNER', 'ADMIN', 'MEMBER'] as const

/** The kinds of records that a search of a project finds. */
export const SEARCH_KINDS = [
  'contact',
  'email',
  'campaign',
  'template',
  'segment',
  'workflow',
  'domain',
  'request',
  'execution',
] as const

export const SEGMENT_TYPES = ['DYNAMIC', 'STATIC'] as const

/**
 * The origin of an email: a send request, a campaign, a workflow, or (INBOUND) a message that was
 * received.
 */
export const SOURCE_TYPES = ['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND'] as const

/** What a step of a workflow does. */
export const STEP_TYPES = [
  'TRIGGER',
  'SEND_EMAIL',
  'DELAY',
  'WAIT_FOR_EVENT',
  'CONDITION',
  'EXIT',
  'WEBHOOK',
  'UPDATE_CONTACT',
] as const

export const SUPPRESSION_REASONS = ['HARD_BOUNCE', 'COMPLAINT', 'MANUAL', 'STRIKES'] as const

export const TRACKING_MODES = ['ENABLED', 'DISABLED', 'MARKETING_ONLY'] as const

export const TRIGGER_TYPES = ['EVENT', 'MANUAL', 'SCHEDULE'] as const

/** Events of the service that lists, names and counts omit unless a request names them. */
export const UNLISTED_EVENTS: readonly string[] = ['email.failed', 'email.suppressed']

/** The ways in which a WAIT_FOR_EVENT step ends. */
export const WAIT_OUTCOMES = ['EVENT', 'TIMEOUT'] as const

export const WEBHOOK_STATUSES = ['PENDING', 'SUCCEEDED', 'FAILED'] as const

/** The counts of emails that analytics shows. */
export const COUNT_NAMES = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
] as const

export const RATE_NAMES = [
  'deliveryRate',
  'openRate',
  'clickRate',
  'clickToOpenRate',
  'bounceRate',
  'complaintRate',
  'unsubscribeRate',
] as const

export const METRIC_NAMES = [...COUNT_NAMES, ...RATE_NAMES] as const
