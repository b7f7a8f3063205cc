/**
 * The counters and the histograms of `/metrics`: their names, their help texts and the values of their labels.
 * A label has a small, fixed set of values. No project, address, domain or id is a label, and nothing that
 * a client or another server chooses.
 */
import { MINUTE_MS, SECOND_MS } from './clock.ts'
import { QUEUE_CLASS_NAMES } from './queue-class.ts'

export type CounterText = {
  help: string
  /**
   * The values of each label that begin at 0, so that their first increase shows; every combination has a line.
   * Without values a counter appears when it counts for the first time.
   */
  labels: Readonly<Record<string, readonly string[]>>
}

const ATTEMPT_OUTCOMES = ['delivered', 'relayed', 'deferred', 'bounced', 'failed']
const EMAIL_OUTCOMES = ['delivered', 'relayed', 'bounced', 'failed', 'suppressed']
/** The classes of replies, and `none` for an end without a reply. */
const REPLY_CLASSES =
  `accepted hard disabled quota too_fast greylist throttle connections session block policy content size syntax
  network dns unknown none`.split(/\s+/)

/** Every counter of the program; `/metrics` shows all of them. */
export const COUNTER_TEXTS = {
  pillarbox_log_lines_suppressed_total: {
    help: 'Log lines left out because the same line was logged less than a minute before',
    labels: {},
  },
  pillarbox_attempts_total: {
    help: 'Attempts to deliver emails, by class of the queue and by outcome',
    labels: { class: Object.values(QUEUE_CLASS_NAMES), outcome: ATTEMPT_OUTCOMES },
  },
  pillarbox_email_outcomes_total: {
    help: 'Emails that have ended, by outcome and by the class of the deciding reply',
    labels: { outcome: EMAIL_OUTCOMES, class: REPLY_CLASSES },
  },
  pillarbox_email_deferrals_total: {
    help: 'Attempts that deferred an email, by the class of the reply',
    labels: { class: REPLY_CLASSES },
  },
  pillarbox_bounces_total: {
    help: 'Final refusals, in session or by a later report; hard ones suppress the address',
    labels: { source: ['session', 'report'], type: ['hard', 'soft'] },
  },
  pillarbox_complaints_total: {
    help: 'Emails that their recipients reported as spam',
    labels: {},
  },
  pillarbox_inbound_messages_total: {
    help: 'Inbound messages that were processed, by kind',
    labels: { kind: 'bounce complaint auto-reply unsubscribe mail other'.split(' ') },
  },
  pillarbox_suppressions_held_total: {
    help: 'Suppressions held: for an operator (fuse), or for a later check of the domain (domain)',
    labels: { cause: ['fuse', 'domain'] },
  },
  pillarbox_http_strangers_refused_total: {
    help: 'Requests without a valid key that were refused; they have no row in the request log',
    labels: { status: [] },
  },
  pillarbox_http_connections_refused_total: {
    help: 'Connections refused because there were too many',
    labels: {},
  },
  pillarbox_http_answers_waited_total: {
    help: 'Answers that waited for memory, because clients had not taken earlier ones',
    labels: {},
  },
  pillarbox_http_answers_refused_total: {
    help: 'Answers refused with 503 after they had waited ten seconds for memory',
    labels: {},
  },
  pillarbox_http_answers_cut_total: {
    help: 'Answers whose client took nothing for thirty seconds; their connections were closed',
    labels: {},
  },
  pillarbox_http_responses_total: {
    help: 'Responses of the HTTP server, by status',
    labels: { status: ['500', '503'] },
  },
  pillarbox_http_refusals_total: {
    help: 'Requests that were refused or failed, by the code of the error',
    labels: { code: [] },
  },
  pillarbox_smtp_refusals_total: {
    help: 'Replies of the SMTP listeners that refuse a command or a session, by reply code',
    labels: { service: [], code: [] },
  },
  pillarbox_recipients_refused_total: {
    help: 'Recipients that the listener for inbound mail refused, by reason',
    labels: { reason: 'relay forged unknown closed full too-large too-often'.split(' ') },
  },
  pillarbox_job_failures_total: {
    help: 'Runs of background jobs that failed',
    labels: { kind: [] },
  },
  pillarbox_webhook_attempts_total: {
    help: 'Attempts to deliver webhooks, by outcome',
    labels: { outcome: ['succeeded', 'refused', 'no_response'] },
  },
  pillarbox_executions_ended_total: {
    help: 'Executions of workflows that have ended, by status',
    labels: { status: ['COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'] },
  },
  pillarbox_chain_starts_refused_total: {
    help: 'Starts of executions that were refused because the chain of executions was too deep',
    labels: {},
  },
  pillarbox_commit_failures_total: {
    help: 'Group commits that failed, with all of their writes',
    labels: {},
  },
  pillarbox_threads_lost_total: {
    help: 'Worker threads that crashed or hung and were replaced',
    labels: { kind: ['scan', 'delivery', 'composing', 'reader', 'submission'] },
  },
  pillarbox_acme_orders_total: {
    help: 'Orders of certificates by ACME, by outcome: issued or failed',
    labels: { outcome: ['issued', 'failed'] },
  },
  pillarbox_metering_batches_total: {
    help: 'Batches of emails for Stripe to charge that have ended; dropped ones are not charged',
    labels: { outcome: ['charged', 'dropped'] },
  },
  pillarbox_emails_not_charged_total: {
    help: 'Emails of dropped batches; the log has their ids',
    labels: {},
  },
  pillarbox_template_faults_total: {
    help: 'Template faults in emails that were sent nevertheless, by the part of the message',
    labels: { part: ['subject', 'body', 'text'] },
  },
} as const satisfies Record<string, CounterText>

export type CounterName = keyof typeof COUNTER_TEXTS

export type HistogramText = {
  help: string
  /** The one label, if any, and all of its values. */
  label: string | null
  values: readonly string[]
  boundsMs: readonly number[]
}

/** Bounds of buckets (ms) for work on this machine. */
const LOCAL_BOUNDS_MS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, SECOND_MS, 5 * SECOND_MS]
/** Bounds of buckets (ms) for conversations with other machines. */
const REMOTE_BOUNDS_MS = [10, 50, 100, 250, 500, ...[1, 2.5, 5, 10, 30, 60, 300].map(seconds)]
const STEP_MS = [1, 10, 100, SECOND_MS, 10 * SECOND_MS]
const DELIVERY_MS = [
  ...[0.1, 0.5, 1, 5, 15].map(seconds),
  ...[1, 5, 15, 60, 6 * 60, 24 * 60].map((count) => count * MINUTE_MS),
]

/** Every histogram of the program; `/metrics` shows all of them. */
export const HISTOGRAM_TEXTS = {
  pillarbox_accept_duration_seconds: {
    help: 'Time until a request to send was durable: from its arrival (api), or from the end of its message (submission)',
    label: 'source',
    values: ['api', 'submission'],
    boundsMs: LOCAL_BOUNDS_MS,
  },
  pillarbox_delivery_duration_seconds: {
    help: 'Time from the acceptance of an email until a receiver or the smarthost took it, by class of the queue',
    label: 'class',
    values: Object.values(QUEUE_CLASS_NAMES),
    boundsMs: DELIVERY_MS,
  },
  pillarbox_attempt_duration_seconds: {
    help: 'Duration of the attempts to deliver emails, by outcome',
    label: 'outcome',
    values: ATTEMPT_OUTCOMES,
    boundsMs: REMOTE_BOUNDS_MS,
  },
  pillarbox_attempt_step_duration_seconds: {
    help: 'Duration of the steps of attempts',
    label: 'step',
    values: 'dns connect greeting ehlo starttls auth mail rcpt data message'.split(' '),
    boundsMs: STEP_MS,
  },
  pillarbox_queue_batch_duration_seconds: {
    help: 'Duration of a write of the queue: a claim of due emails, or the outcomes of attempts',
    label: 'batch',
    values: ['claim', 'outcomes'],
    boundsMs: LOCAL_BOUNDS_MS,
  },
  pillarbox_commit_duration_seconds: {
    help: 'Duration of a group commit, from its first write until it was durable',
    label: null,
    values: [''],
    boundsMs: LOCAL_BOUNDS_MS,
  },
  pillarbox_write_wait_seconds: {
    help: 'How long each group commit began after one of its writes was due',
    label: null,
    values: [''],
    boundsMs: LOCAL_BOUNDS_MS,
  },
  pillarbox_checkpoint_duration_seconds: {
    help: 'Duration of a checkpoint, which copies the write-ahead log into the database',
    label: null,
    values: [''],
    boundsMs: LOCAL_BOUNDS_MS,
  },
  pillarbox_webhook_attempt_duration_seconds: {
    help: 'Duration of the attempts to deliver webhooks',
    label: null,
    values: [''],
    boundsMs: REMOTE_BOUNDS_MS,
  },
} as const satisfies Record<string, HistogramText>

export type HistogramName = keyof typeof HISTOGRAM_TEXTS

function seconds(count: number): number {
  return count * SECOND_MS
}
