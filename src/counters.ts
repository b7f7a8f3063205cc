/**
 * The counters of `/metrics`, together with its histograms. They count from the start of the process,
 * because Prometheus expects counters to begin at zero with each process.
 *
 * A label has a small, fixed set of values. No project, address, domain or id is a label, and nothing that
 * a client or another server chooses.
 */
import { createHistograms, type Histograms } from './histograms.ts'

type CounterText = { help: string; labelNames: readonly string[] }

/** Every counter of the program; `/metrics` shows all of them. */
export const COUNTER_TEXTS = {
  pillarbox_log_lines_suppressed_total: {
    help: 'Log lines left out because the same line was logged less than a minute before',
    labelNames: [],
  },
  pillarbox_attempts_total: {
    help: 'Attempts to deliver emails, by class of the queue and by outcome',
    labelNames: ['class', 'outcome'],
  },
  pillarbox_email_outcomes_total: {
    help: 'Emails that have ended, by outcome and by the class of the deciding reply',
    labelNames: ['outcome', 'class'],
  },
  pillarbox_email_deferrals_total: {
    help: 'Attempts that deferred an email, by the class of the reply',
    labelNames: ['class'],
  },
  pillarbox_bounces_total: {
    help: 'Final refusals, in session or by a later report; hard ones suppress the address',
    labelNames: ['source', 'type'],
  },
  pillarbox_complaints_total: {
    help: 'Emails that their recipients reported as spam',
    labelNames: [],
  },
  pillarbox_inbound_messages_total: {
    help: 'Inbound messages that were processed, by kind',
    labelNames: ['kind'],
  },
  pillarbox_suppressions_held_total: {
    help: 'Suppressions held: for an operator (fuse), or for a later check of the domain (domain)',
    labelNames: ['cause'],
  },
  pillarbox_http_strangers_refused_total: {
    help: 'Requests without a valid key that were refused; they have no row in the request log',
    labelNames: ['status'],
  },
  pillarbox_http_connections_refused_total: {
    help: 'Connections refused because there were too many',
    labelNames: [],
  },
  pillarbox_http_answers_waited_total: {
    help: 'Answers that waited for memory, because clients had not taken earlier ones',
    labelNames: [],
  },
  pillarbox_http_answers_refused_total: {
    help: 'Answers refused with 503 after they had waited ten seconds for memory',
    labelNames: [],
  },
  pillarbox_http_answers_cut_total: {
    help: 'Answers whose client took nothing for thirty seconds; their connections were closed',
    labelNames: [],
  },
  pillarbox_http_responses_total: {
    help: 'Responses of the HTTP server, by status',
    labelNames: ['status'],
  },
  pillarbox_http_refusals_total: {
    help: 'Requests that were refused or failed, by the code of the error',
    labelNames: ['code'],
  },
  pillarbox_smtp_refusals_total: {
    help: 'Replies of the SMTP listeners that refuse a command or a session, by reply code',
    labelNames: ['service', 'code'],
  },
  pillarbox_recipients_refused_total: {
    help: 'Recipients that the listener for inbound mail refused, by reason',
    labelNames: ['reason'],
  },
  pillarbox_job_failures_total: {
    help: 'Runs of background jobs that failed',
    labelNames: ['kind'],
  },
  pillarbox_webhook_attempts_total: {
    help: 'Attempts to deliver webhooks, by outcome',
    labelNames: ['outcome'],
  },
  pillarbox_executions_ended_total: {
    help: 'Executions of workflows that have ended, by status',
    labelNames: ['status'],
  },
  pillarbox_chain_starts_refused_total: {
    help: 'Starts of executions that were refused because the chain of executions was too deep',
    labelNames: [],
  },
  pillarbox_commit_failures_total: {
    help: 'Group commits that failed, with all of their writes',
    labelNames: [],
  },
  pillarbox_threads_lost_total: {
    help: 'Worker threads that crashed or hung and were replaced',
    labelNames: ['kind'],
  },
  pillarbox_acme_orders_total: {
    help: 'Orders of certificates by ACME, by outcome: issued or failed',
    labelNames: ['outcome'],
  },
  pillarbox_metering_batches_total: {
    help: 'Batches of emails for Stripe to charge that have ended; dropped ones are not charged',
    labelNames: ['outcome'],
  },
  pillarbox_emails_not_charged_total: {
    help: 'Emails of dropped batches; the log has their ids',
    labelNames: [],
  },
  pillarbox_template_faults_total: {
    help: 'Template faults in emails that were sent nevertheless, by the part of the message',
    labelNames: ['part'],
  },
} as const satisfies Record<string, CounterText>

export type CounterName = keyof typeof COUNTER_TEXTS

type CounterLabels = Readonly<Record<string, string>>

export type Counters = Histograms & {
  /** `labels`: a value for each label name of the counter. */
  add(name: CounterName, labels?: CounterLabels, count?: number): void
  lines(name: CounterName): { labels: CounterLabels; count: number }[]
}

export function createCounters(): Counters {
  const counts = new Map<CounterName, Map<string, { labels: CounterLabels; count: number }>>()
  return {
    ...createHistograms(),
    add(name, labels = {}, count = 1) {
      const lines = counts.get(name) ?? new Map()
      counts.set(name, lines)
      const key = COUNTER_TEXTS[name].labelNames.map((label) => labels[label]).join('\n')
      const line = lines.get(key)
      if (line === undefined) lines.set(key, { labels, count })
      else line.count += count
    },
    lines: (name) => [...(counts.get(name)?.values() ?? [])],
  }
}
