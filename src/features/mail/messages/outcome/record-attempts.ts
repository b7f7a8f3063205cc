/**
 * Records attempts in one transaction: the states of their emails, attempt rows, events, known
 * domains, and the suppressions and strikes of bounces. `final-state.ts` has the table of states.
 */
import { MINUTE_MS, type Now } from '../../../../base/clock.ts'
import { QUEUE_CLASS_NAMES } from '../../../../base/queue-class.ts'
import type { AttemptOutcome } from '../../../../outbound/attempt.ts'
import { outcomeText } from '../../../../outbound/outcomes.ts'
import { sql } from '../../../../store/drizzle.ts'
import { idTime } from '../../../../store/ids.ts'
import type { StoredFault } from '../../../../store/schema/json-values.ts'
import { attempts, type Email } from '../../../../store/schema/messages.ts'
import { packSteps } from '../../../../store/schema/packed-steps.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { QueueNotifier } from '../queue/notifier.ts'
import {
  type EmailTransition,
  logOutcome,
  type Settlement,
  type ShelvedEmail,
  settleAttempts,
} from './final-state.ts'
import { giveUpError } from './given-up.ts'
import { suppressOwnBounce } from './suppress-bounced.ts'
import { type Fuse, insertKnownDomains, type KnownDomains } from './suppression-guards.ts'
import { recordFaults } from './template-faults.ts'
import { findFinalReport } from './write-report.ts'

/**
 * The part of an email that stays in memory while it is in flight: all that is needed to record its
 * outcome.
 */
export type InFlightEmail = Pick<
  Email,
  | 'id'
  | 'projectId'
  | 'contactId'
  | 'recipient'
  | 'recipientDomain'
  | 'queueClass'
  | 'subject'
  | 'giveUpAt'
  | 'failureCount'
  | 'attemptCount'
> &
  ShelvedEmail

export type AttemptRecord = {
  email: InFlightEmail
  /** The site of the attempt. */
  site: string
  outcome: AttemptOutcome
  /** The subject as it was rendered; null if the message was not rendered. */
  subject: string | null
  /** The faults that rendering found in the templates of the email. */
  faults: readonly StoredFault[]
  startedAt: number
}

type Deps = Pick<Base, 'config' | 'counters' | 'now' | 'log'> & {
  /** The time without recent jumps of the clock (`createSteadyClock`). */
  steadyNow: Now
  queueNotifier: QueueNotifier
  fuse: Fuse
  knownDomains: KnownDomains
}

/**
 * The time of a record. `lagMs`: how far the clock of the machine has jumped ahead of the steady
 * time.
 */
type RecordTime = { at: number; lagMs: number }

type SettledRecord = { record: AttemptRecord; transition: EmailTransition }

/** `queue show` prints these rows. */
const insertAttempt = statement((db) =>
  db.insert(attempts).values({
    emailId: parameter('emailId'),
    at: parameter('at'),
    durationMs: parameter('durationMs'),
    result: parameter('result'),
    class: parameter('class'),
    host: parameter('host'),
    address: parameter('address'),
    tls: parameter('tls'),
    replyCode: parameter('replyCode'),
    enhancedCode: parameter('enhancedCode'),
    replyText: parameter('replyText'),
    error: parameter('error'),
    isMaybeDelivered: parameter('isMaybeDelivered'),
    steps: sql`${parameter('steps')}`,
  }),
)

const JITTER = 0.15

/**
 * Records attempts and their consequences; attempts of emails that have been deleted are ignored.
 */
export async function recordAttempts(
  deps: Deps,
  tx: Tx,
  records: readonly AttemptRecord[],
): Promise<void> {
  const at = deps.now()
  const instant = { at, lagMs: at - deps.steadyNow() }
  const all = records.map((record) => ({ record, transition: decide(deps, record, instant) }))
  const isSettled = await settleAttempts(tx, all.map(toSettlement), at)
  const settled = all.filter((_, index) => isSettled[index])
  const overtaken = await findOvertaken(
    tx,
    records.filter((_, index) => !isSettled[index]),
  )
  const recorded = [...settled.map(({ record }) => record), ...overtaken]
  await tx.insertRows(insertAttempt, recorded.map(toRow))
  const faulty = recorded.filter(({ faults }) => faults.length > 0)
  if (faulty.length > 0) await recordFaults(deps, tx, faulty)
  await insertKnownDomains(deps, tx, { seen: settled.map(({ record }) => record), at })
  const bounced = settled.filter(({ transition }) => transition.state === 'bounced')
  for (const each of bounced) await suppressBounced(deps, tx, each)
  tx.afterCommit(() => {
    for (const each of settled) {
      notifyWhenDue(deps, each)
      observe(deps, each, at)
      log(deps, each)
    }
  })
}

/**
 * Returns the retry delay after `failures` failed attempts (0 = none yet), in ms: `delivery.retry_schedule`, whose
 * last delay repeats, with a jitter of 15%.
 */
export function retryDelayMs(
  schedule: readonly number[],
  failures: number,
  random: () => number = Math.random,
): number {
  const step = schedule[Math.min(failures, schedule.length - 1)] ?? MINUTE_MS
  return Math.round(step * (1 - JITTER + random() * 2 * JITTER))
}

/**
 * Finds the records of emails that a report ended before the outcome of their session was recorded.
 */
async function findOvertaken(tx: Tx, records: readonly AttemptRecord[]): Promise<AttemptRecord[]> {
  const overtaken: AttemptRecord[] = []
  for (const record of records) {
    const found = await tx.find(findFinalReport, { emailId: record.email.id })
    if (found !== undefined) overtaken.push(record)
  }
  return overtaken
}

function toRow({ email, outcome, startedAt }: AttemptRecord) {
  const { host, address, reply } = outcome
  const replyText = reply?.text ?? null
  return {
    emailId: email.id,
    at: startedAt,
    durationMs: Math.round(outcome.durationMs),
    result: outcome.result,
    class: outcome.verdict?.class ?? null,
    host,
    address,
    tls: outcome.tls,
    replyCode: outcome.reply?.code ?? null,
    enhancedCode: outcome.reply?.enhancedCode ?? null,
    replyText,
    error: outcome.error,
    isMaybeDelivered: outcome.isMaybeDelivered,
    steps: packSteps(outcome.steps, { host, address, replyText }),
  }
}

function toSettlement({ record: { email, subject }, transition }: SettledRecord): Settlement {
  return { email, subject: subject ?? email.subject, transition }
}

function notifyWhenDue(
  { queueNotifier }: { queueNotifier: QueueNotifier },
  { record, transition }: SettledRecord,
): void {
  const { queueClass, recipientDomain: domain, projectId } = record.email
  const { dueAt } = transition
  if (dueAt !== null) queueNotifier.notify({ queueClass, domain, projectId, dueAt })
}

/**
 * Counts an attempt, and observes its duration and that of a delivery since acceptance, whose time
 * is in the id of the email.
 */
function observe(
  { counters }: Pick<Deps, 'counters'>,
  { record: { email, outcome } }: SettledRecord,
  at: number,
): void {
  const { result, durationMs, steps } = outcome
  const queueClass = QUEUE_CLASS_NAMES[email.queueClass]
  counters.add('pillarbox_attempts_total', { class: queueClass, outcome: result })
  counters.observe('pillarbox_attempt_duration_seconds', durationMs, result)
  for (const { step, durationMs: stepMs } of steps) {
    counters.observe('pillarbox_attempt_step_duration_seconds', stepMs, step)
  }
  if (result !== 'delivered' && result !== 'relayed') return
  counters.observe('pillarbox_delivery_duration_seconds', at - idTime(email.id), queueClass)
}

function log(deps: Pick<Deps, 'log' | 'counters'>, { record, transition }: SettledRecord): void {
  const { email, site, outcome } = record
  const { verdict, reply, durationMs } = outcome
  const { state, error: reason } = transition
  if (state === 'bounced') {
    const type = verdict?.isHard === true ? 'hard' : 'soft'
    deps.counters.add('pillarbox_bounces_total', { source: 'session', type })
  }
  logOutcome(deps, {
    email,
    outcome: state,
    class: verdict?.class,
    site,
    reply,
    attempts: email.attemptCount,
    durationMs,
    reason,
  })
}

function decide(
  deps: Pick<Base, 'config'>,
  record: AttemptRecord,
  { at, lagMs }: RecordTime,
): EmailTransition {
  const { email, outcome, startedAt } = record
  const plain: EmailTransition = {
    state: 'failed',
    status: 'FAILED',
    error: null,
    dueAt: null,
    sentAt: null,
    deliveredAt: null,
    bouncedAt: null,
    providerId: null,
    isFailure: false,
    bounceType: outcome.verdict?.isHard === true ? 'Permanent' : 'Undetermined',
    failureReason: 'error',
  }
  const error = outcomeText(outcome)
  switch (outcome.result) {
    case 'delivered':
      return { ...plain, state: 'delivered', status: 'DELIVERED', sentAt: at, deliveredAt: at }
    case 'relayed':
      return {
        ...plain,
        state: 'relayed',
        status: 'SENT',
        sentAt: at,
        providerId: providerIdOf(outcome),
      }
    case 'bounced':
      return { ...plain, state: 'bounced', status: 'BOUNCED', bouncedAt: at, error }
    case 'failed':
      return { ...plain, error }
    case 'deferred':
      return startedAt - lagMs >= email.giveUpAt
        ? { ...plain, error: giveUpError(error), failureReason: 'given_up', isFailure: true }
        : { ...plain, ...deferral(deps, record, at), error }
  }
}

function deferral(
  { config }: Pick<Base, 'config'>,
  { email, outcome, startedAt }: AttemptRecord,
  at: number,
): Pick<EmailTransition, 'state' | 'status' | 'dueAt' | 'isFailure'> {
  const isFailure = outcome.verdict?.countsAsFailure ?? true
  const ownDelayMs = retryDelayMs(config.delivery.retrySchedule, email.failureCount)
  const delayMs = Math.max(ownDelayMs, outcome.verdict?.retryAfterMs ?? 0)
  const latest = Math.max(email.giveUpAt, at + 1_000)
  // If the clock has jumped, an attempt that only seemed to begin past the give-up time is not the
  // last one.
  const dueAt = startedAt < email.giveUpAt ? Math.min(at + delayMs, latest) : at + delayMs
  return { state: 'deferred', status: 'PENDING', dueAt, isFailure }
}

/**
 * Returns the queue id that a smarthost's reply names, such as 4F2C91 in
 * `250 2.0.0 Ok: queued as 4F2C91`, or an SES message id.
 */
function providerIdOf({ reply }: AttemptOutcome): string | null {
  if (reply === null) return null
  const named =
    /\b(?:queued as|id=|queued mail for delivery)\s{0,9}[:<]?\s{0,9}([\w.@-]{4,200})/i.exec(
      reply.text,
    )
  if (named?.[1] !== undefined) return named[1]
  const bare = /^(?:ok:?|accepted:?|queued:?)\s+<?([\w.@-]{6,200})>?$/i.exec(reply.text.trim())
  return bare?.[1] ?? null
}

async function suppressBounced(
  deps: { fuse: Fuse },
  tx: Tx,
  { record, transition }: SettledRecord,
): Promise<void> {
  const { email, outcome } = record
  const { verdict } = outcome
  const { bouncedAt: at } = transition
  if (at === null || verdict === null) return
  const isByDns = outcome.host === null
  await suppressOwnBounce(deps, tx, { email, verdict, source: outcomeText(outcome), at, isByDns })
}
