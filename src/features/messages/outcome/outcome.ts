/**
 * What became of an email. It reaches a final state here, or in `later.ts` by what is learnt after
 * its session; nowhere else. Suppression, events and the attempt's or report's record are written
 * in the same transaction.
 *
 * | attempt                              | state     | status    | also                                   |
 * |--------------------------------------|-----------|-----------|----------------------------------------|
 * | final 250 of an MX or the sandbox    | delivered | DELIVERED | sentAt = deliveredAt, `email.sent`,    |
 * |                                      |           |           | `email.delivery`                       |
 * | final 250 of a smarthost             | relayed   | SENT      | sentAt, providerId, `email.sent`       |
 * | final refusal: receiver or DNS       | bounced   | BOUNCED   | `email.bounce`; class hard: suppressed |
 * |                                      |           |           | or held (`condemn.ts`); quota,         |
 * |                                      |           |           | disabled, unexplained: a strike        |
 * | transient, and time is left          | deferred  | PENDING   | due again                              |
 * | transient, and it began after the    | failed    | FAILED    | error                                  |
 * | give-up time                         |           |           |                                        |
 * | our own error, cancelled, forbidden  | failed    | FAILED    | error                                  |
 * | on the suppression list by now       | suppressed| SUPPRESSED|                                        |
 *
 * | later report                         | state     | status    | also                                   |
 * |--------------------------------------|-----------|-----------|----------------------------------------|
 * | action failed, whatever its class    | bounced   | BOUNCED   | as a final refusal; also of what was   |
 * |                                      |           |           | delivered, opened or given up; first   |
 * |                                      |           |           | `email.sent` where it was not told     |
 * | delay                                | -         | -         | `email.bounce`, transient; once        |
 * | relayed mail has arrived             | delivered | DELIVERED | deliveredAt, `email.delivery`; OPENED  |
 * |                                      |           |           | and CLICKED stay                       |
 * | complaint                            | -, or     | COMPLAINED| `email.complaint`; suppressed and      |
 * |                                      | delivered |           | unsubscribed; BOUNCED stays; of what   |
 * |                                      |           |           | was under way first as a final 250     |
 *
 * BOUNCED and COMPLAINED are terminal: nothing that comes later overwrites them, and what is known
 * already (a refusal in session, the same report before) is not counted again. A report that is
 * faster than the record of its session has the last word; of the session then the attempt is kept.
 * Delivered mail becomes OPENED and CLICKED by `features/tracking`.
 *
 * Waiting (queued, deferred, held) and being sent (sending) are the queue's: `queue.ts`, `operate.ts`.
 */
import type { AttemptOutcome } from '../../../outbound/attempt.ts'
import { outcomeText } from '../../../outbound/outcome-text.ts'
import { and, eq, sql } from '../../../store/drizzle.ts'
import { type Email, emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { appendEvents, type NewEvent } from '../../events/append.ts'
import type { QueueNotifier } from '../queue/notifier.ts'
import { type AttemptRecord, type InFlightEmail, insertAttempts } from './attempt-row.ts'
import type { Fuse } from './fuse.ts'
import { insertKnownDomains, type KnownDomains } from './known-domains.ts'
import { type LoggedOutcome, logOutcome } from './log-outcome.ts'
import { findFinalReport } from './report-row.ts'
import { retryDelayMs } from './retry-delay.ts'
import { suppressOwnBounce } from './suppress-bounced.ts'
import { recordFaults } from './template-faults.ts'

type NoteDeps = Pick<Base, 'log' | 'counters'>
type Waiting = Pick<Email, 'id' | 'state'>
type End = Pick<Email, 'status' | 'error'> & { state: 'failed' | 'suppressed' }

type Transition = {
  state: LoggedOutcome['outcome']
  status: Email['status']
  error: string | null
  dueAt: number | null
  sentAt: number | null
  deliveredAt: number | null
  bouncedAt: number | null
  providerId: string | null
  isFailure: boolean
}

const settleEmail = statement((db) =>
  db
    .update(emails)
    .set({
      state: parameter('state'),
      status: parameter('status'),
      subject: parameter('subject'),
      error: parameter('error'),
      dueAt: parameter('dueAt'),
      sentAt: parameter('sentAt'),
      deliveredAt: parameter('deliveredAt'),
      bouncedAt: parameter('bouncedAt'),
      providerId: parameter('providerId'),
      failureCount: sql`${emails.failureCount} + ${parameter('failures')}`,
      retryAt: sql`null`,
      leaseId: sql`null`,
      leaseUntil: sql`null`,
      updatedAt: parameter('at'),
    })
    .where(sql`${emails.id} = ${parameter('id')} and ${emails.state} = 'sending'`),
)

/** Records attempts and all that follows from them; of emails that are gone meanwhile, nothing. */
export async function recordAttempts(
  deps: Pick<Base, 'config' | 'counters' | 'now' | 'log'> & {
    queueNotifier: QueueNotifier
    fuse: Fuse
    knownDomains: KnownDomains
  },
  tx: Tx,
  records: readonly AttemptRecord[],
): Promise<void> {
  const at = deps.now()
  const all = records.map((record) => ({ record, transition: decide(deps, record, at) }))
  const changed = await tx.executeEach(
    settleEmail,
    all.map((each) => settledRow(each, at)),
  )
  const settled = all.filter((_, index) => changed[index] === 1)
  const overtaken = await findOvertaken(
    tx,
    records.filter((_, index) => changed[index] !== 1),
  )
  const recorded = [...settled.map(({ record }) => record), ...overtaken]
  await insertAttempts(tx, recorded)
  await recordFaults(deps, tx, recorded)
  await appendEvents(
    tx,
    settled.flatMap((each) => outcomeEvents(each, at)),
  )
  await insertKnownDomains(deps, tx, { seen: settled.map(({ record }) => record), at })
  for (const each of settled) await condemn(deps, tx, each)
  tx.afterCommit(() => {
    for (const each of settled) {
      ringWhenDue(deps, each)
      note(deps, each)
    }
  })
}

/** Those of emails that a later report has ended first. */
async function findOvertaken(tx: Tx, records: readonly AttemptRecord[]): Promise<AttemptRecord[]> {
  const overtaken: AttemptRecord[] = []
  for (const record of records) {
    const found = await tx.find(findFinalReport, { emailId: record.email.id })
    if (found !== undefined) overtaken.push(record)
  }
  return overtaken
}

type Settlement = { record: AttemptRecord; transition: Transition }

function settledRow({ record, transition }: Settlement, at: number) {
  const { email, subject } = record
  return {
    ...transition,
    id: email.id,
    subject: subject ?? email.subject,
    failures: transition.isFailure ? 1 : 0,
    at,
  }
}

function ringWhenDue(
  { queueNotifier }: { queueNotifier: QueueNotifier },
  { record, transition }: Settlement,
): void {
  const { queueClass, recipientDomain: domain, projectId } = record.email
  const { dueAt } = transition
  if (dueAt !== null) queueNotifier.notify({ queueClass, domain, projectId, dueAt })
}

function note(deps: NoteDeps, { record, transition }: Settlement): void {
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

/** An email that ends without an attempt: cancelled, forbidden by now, our own error. */
export async function failEmail(
  deps: NoteDeps,
  tx: Tx,
  { email, error, at }: { email: Waiting; error: string; at: number },
): Promise<boolean> {
  return endEmail(deps, tx, { email, state: 'failed', status: 'FAILED', error, at })
}

/** An email whose address was suppressed after its acceptance. */
export async function suppressEmail(
  deps: NoteDeps,
  tx: Tx,
  { email, at }: { email: Waiting; at: number },
): Promise<boolean> {
  const end = { state: 'suppressed', status: 'SUPPRESSED', error: null } as const
  return endEmail(deps, tx, { email, ...end, at })
}

async function endEmail(
  deps: NoteDeps,
  tx: Tx,
  { email, at, ...end }: End & { email: Waiting; at: number },
): Promise<boolean> {
  const ended = await tx
    .update(emails)
    .set({
      ...end,
      dueAt: null,
      retryAt: null,
      leaseId: null,
      leaseUntil: null,
      heldAt: null,
      // A claim counts the attempt that is now not made.
      attemptCount: sql`${emails.attemptCount} - ${email.state === 'sending' ? 1 : 0}`,
      updatedAt: at,
    })
    .where(and(eq(emails.id, email.id), eq(emails.state, email.state)))
    .returning({
      id: emails.id,
      projectId: emails.projectId,
      recipient: emails.recipient,
      attemptCount: emails.attemptCount,
    })
  tx.afterCommit(() => {
    for (const { attemptCount: attempts, ...row } of ended) {
      logOutcome(deps, { email: row, outcome: end.state, attempts, reason: end.error })
    }
  })
  return ended.length > 0
}

function decide(
  deps: Pick<Base, 'config'>,
  { email, outcome, startedAt }: AttemptRecord,
  at: number,
): Transition {
  const plain: Transition = {
    state: 'failed',
    status: 'FAILED',
    error: null,
    dueAt: null,
    sentAt: null,
    deliveredAt: null,
    bouncedAt: null,
    providerId: null,
    isFailure: false,
  }
  const said = outcomeText(outcome)
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
      return { ...plain, state: 'bounced', status: 'BOUNCED', bouncedAt: at, error: said }
    case 'failed':
      return { ...plain, error: said }
    case 'deferred':
      return startedAt >= email.giveUpAt
        ? { ...plain, error: `given up; the last answer was: ${said}`, isFailure: true }
        : { ...plain, ...deferral(deps, { email, outcome, at }), error: said }
  }
}

function deferral(
  { config }: Pick<Base, 'config'>,
  { email, outcome, at }: { email: InFlightEmail; outcome: AttemptOutcome; at: number },
): Pick<Transition, 'state' | 'status' | 'dueAt' | 'isFailure'> {
  const isFailure = outcome.verdict?.countsAsFailure ?? true
  const scheduled = retryDelayMs(config.delivery.retrySchedule, email.failureCount)
  const delayMs = Math.max(scheduled, outcome.verdict?.retryAfterMs ?? 0)
  const dueAt = Math.min(at + delayMs, Math.max(email.giveUpAt, at + 1_000))
  return { state: 'deferred', status: 'PENDING', dueAt, isFailure }
}

/** The queue id in a smarthost's answer, as `250 2.0.0 Ok: queued as 4F2C91` or an SES message id. */
export function providerIdOf({ reply }: AttemptOutcome): string | null {
  if (reply === null) return null
  const named =
    /\b(?:queued as|id=|queued mail for delivery)\s{0,9}[:<]?\s{0,9}([\w.@-]{4,200})/i.exec(
      reply.text,
    )
  if (named?.[1] !== undefined) return named[1]
  const bare = /^(?:ok:?|accepted:?|queued:?)\s+<?([\w.@-]{6,200})>?$/i.exec(reply.text.trim())
  return bare?.[1] ?? null
}

function outcomeEvents({ record, transition }: Settlement, at: number): NewEvent[] {
  const { email, outcome } = record
  const of = { projectId: email.projectId, contactId: email.contactId, emailId: email.id, at }
  const events: NewEvent[] = []
  if (transition.sentAt !== null) events.push({ ...of, name: 'email.sent', data: null })
  if (transition.deliveredAt !== null) events.push({ ...of, name: 'email.delivery', data: null })
  if (transition.bouncedAt !== null) {
    const bounceType = outcome.verdict?.isHard === true ? 'Permanent' : 'Undetermined'
    events.push({ ...of, name: 'email.bounce', data: { bounceType } })
  }
  return events
}

async function condemn(
  deps: { fuse: Fuse },
  tx: Tx,
  { record, transition }: Settlement,
): Promise<void> {
  const { email, outcome } = record
  const { verdict } = outcome
  const { state, bouncedAt: at } = transition
  if (state !== 'bounced' || at === null || verdict === null) return
  const isByDns = outcome.host === null
  await suppressOwnBounce(deps, tx, { email, verdict, source: outcomeText(outcome), at, isByDns })
}
