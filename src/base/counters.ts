/**
 * The counters of `/metrics`, together with its histograms. They count from the start of the process,
 * because Prometheus expects counters to begin at zero with each process.
 *
 * A label has a small, fixed set of values. No project, address, domain or id is a label, and nothing that
 * a client or another server chooses.
 */
import { ATTEMPT_OUTCOMES, createHistograms, type Histograms } from './histograms.ts'
import { QUEUE_CLASS_NAMES } from './queue-class.ts'

type CounterText = {
  help: string
  /**
   * The values of each label that begin at 0, so that their first increase shows; every combination has a line.
   * Without values a counter appears when it counts for the first time.
   */
  labels: Readonly<Record<string, readonly string[]>>
}

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

type CounterLabels = Readonly<Record<string, string>>

export type Counters = Histograms & {
  /** `labels`: a value for each label of the counter. A `count` of 0 begins a line. */
  add(name: CounterName, labels?: CounterLabels, count?: number): void
  lines(name: CounterName): { labels: CounterLabels; count: number }[]
}

type CounterLine = { labels: CounterLabels; count: number }
type Lines = { labelNames: readonly string[]; byKey: Map<string, CounterLine> }

export function createCounters(): Counters {
  const all = new Map(
    Object.entries(COUNTER_TEXTS).map(([name, { labels }]) => [name, startingLines(labels)]),
  )
  return {
    ...createHistograms(),
    add(name, labels = {}, count = 1) {
      const lines = all.get(name)
      if (lines !== undefined) addTo(lines, labels, count)
    },
    lines: (name) => [...(all.get(name)?.byKey.values() ?? [])],
  }
}

/** A line for every combination of the values; one without labels if there are none. */
function startingLines(values: CounterText['labels']): Lines {
  const lines = { labelNames: Object.keys(values), byKey: new Map<string, CounterLine>() }
  const combinations = Object.entries(values).reduce<CounterLabels[]>(
    (rows, [label, each]) =>
      rows.flatMap((row) => each.map((value) => ({ ...row, [label]: value }))),
    [{}],
  )
  for (const labels of combinations) addTo(lines, labels, 0)
  return lines
}

function addTo({ labelNames, byKey }: Lines, labels: CounterLabels, count: number): void {
  const key = labelNames.map((label) => labels[label]).join('\n')
  const line = byKey.get(key)
  if (line === undefined) byKey.set(key, { labels, count })
  else line.count += count
}
