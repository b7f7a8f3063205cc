/**
 * The codes of the reasons in the API, with the names of the values that each sentence has. The codes and names are
 * stable: clients translate by them. `docs/reasons.md` explains each one. A browser may import this file.
 */

/** Why an email stands where it stands. */
export const EMAIL_REASONS = {
  restored: ['since', 'heldDomain'],
  domain_held: ['domain', 'since', 'campaignPaused'],
  domain_released: ['domain', 'since', 'campaignPaused'],
  project_held: ['since', 'until', 'ofCampaign', 'heldDomain'],
  campaign_paused: ['since', 'senderVerified', 'heldDomain'],
  campaign_pace: ['maxPerHour', 'heldDomain'],
  sender_unverified: ['since', 'heldDomain'],
  due_soon: ['since', 'ofCampaign', 'heldDomain'],
  no_server: ['domain', 'last', 'siteError', 'nextAttemptAt'],
  receiver_closed: [
    ...(['site', 'domain', 'until', 'since', 'cause'] as const),
    ...(['last', 'siteError', 'nextAttemptAt'] as const),
  ],
  receiver_slowed: [
    ...(['site', 'domain', 'messagesPerMinute', 'until', 'since', 'cause'] as const),
    ...(['last', 'siteError', 'nextAttemptAt'] as const),
  ],
  retry_scheduled: ['domain', 'last', 'siteError', 'nextAttemptAt'],
  ends_untried: ['domain', 'last', 'siteError', 'at', 'obstacle'],
  project_rate: ['emailsPerSecond'],
  receiver_busy: ['site', 'domain', 'inFlight', 'connections', 'since', 'cause', 'progress'],
  server_busy: ['domain', 'progress'],
  project_share: [],
  project_connections: [],
  due: [],
  due_unknown: [],
  deferred: ['error'],
  sending: ['domain', 'progress'],
  server_stopped: [],
  delivered: ['at', 'host', 'reply', 'complainedAt'],
  relayed: ['at', 'host', 'reply', 'complainedAt'],
  relayed_delivered: ['at', 'host', 'complainedAt'],
  bounced: ['at', 'host', 'class', 'reply', 'error', 'suppressedSince'],
  bounce_reported: ['at', 'host', 'recipient', 'class', 'reply', 'error', 'suppressedSince'],
  suppressed: ['recipient', 'since', 'suppression', 'source', 'cutOff'],
  suppression_lifted: ['recipient', 'at', 'cutOff'],
  cancelled: ['at', 'obstacle', 'cutOff'],
  given_up: ['at', 'attempts', 'error', 'obstacle', 'cutOff'],
  given_up_untried: ['error', 'obstacle', 'cutOff'],
  refused: ['refusal', 'obstacle', 'cutOff'],
  error: ['error', 'obstacle', 'cutOff'],
  received: ['at'],
} as const satisfies ReasonFields

/** Why an execution of a workflow ended before its last step, and why a step failed or was skipped. */
export const EXECUTION_REASONS = {
  cancelled_by_user: [],
  all_cancelled_by_user: [],
  project_disabled: [],
  workflow_disabled: [],
  step_removed: [],
  too_many_starts: [],
  chain_too_deep: [],
  exit_step: ['text'],
  step_without_template: [],
  step_without_recipient: [],
  step_recipient_suppressed: ['recipient'],
  step_recipient_unsubscribed: ['recipient'],
  step_answers_spent: ['answersPerDay'],
  step_templates_too_heavy: [],
  step_wait_lost: [],
  step_internal_error: [],
  step_failed: ['error'],
} as const satisfies ReasonFields

const REASON_FIELDS = { ...EMAIL_REASONS, ...EXECUTION_REASONS }

/** Why an email must not be sent, or must not be sent again: the values of `refusal` and `obstacle`. */
export const REFUSALS = [
  'unsubscribed',
  'suppressed',
  'sender_unverified',
  'content_cleared',
  'platform_mail_not_kept',
  'project_disabled',
  'project_not_enabled_in_time',
  'campaign_cancelled',
] as const

export type RefusalCode = (typeof REFUSALS)[number]

export type EmailReasonCode = keyof typeof EMAIL_REASONS

export type ExecutionReasonCode = keyof typeof EXECUTION_REASONS

export type ReasonCode = keyof typeof REASON_FIELDS

export const REASON_CODES = Object.keys(REASON_FIELDS) as [ReasonCode, ...ReasonCode[]]

/** The names of the values of a code. */
export type ReasonField<Code extends ReasonCode> = (typeof REASON_FIELDS)[Code][number]

type ReasonFields = Record<string, readonly string[]>
