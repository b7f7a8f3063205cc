/** The words that fields of records hold; a browser may import them. */

/** How users log in. */
export const ACCOUNT_METHODS = ['PASSWORD', 'GITHUB_OAUTH', 'GOOGLE_OAUTH', 'OIDC'] as const

export const AUDIENCE_TYPES = ['ALL', 'SEGMENT', 'FILTERED'] as const

export const CAMPAIGN_STATUSES = ['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED'] as const

export const CONTENT_CLASSES = ['TRANSACTIONAL', 'MARKETING', 'HEADLESS'] as const

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

/** MIME types of the images that a project may upload. */
export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const

/** What sends an email. */
export const SOURCE_TYPES = ['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND'] as const

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

export const SEGMENT_TYPES = ['DYNAMIC', 'STATIC'] as const

export const SUPPRESSION_REASONS = ['HARD_BOUNCE', 'COMPLAINT', 'MANUAL', 'STRIKES'] as const

/** Events of the service that lists, names and counts include only when a request names them. */
export const UNLISTED_EVENTS: readonly string[] = ['email.failed', 'email.suppressed']
