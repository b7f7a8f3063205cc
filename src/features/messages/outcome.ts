/**
 * What became of an email: the only place where one reaches a final state. Suppression, events and
 * the attempt's record are written in the same transaction.
 *
 * | attempt                              | state     | status    | also                                   |
 * |--------------------------------------|-----------|-----------|----------------------------------------|
 * | final 250 of an MX or the sandbox    | delivered | DELIVERED | sentAt = deliveredAt, `email.sent`,    |
 * |                                      |           |           | `email.delivery`                       |
 * | final 250 of a smarthost             | relayed   | SENT      | sentAt, providerId, `email.sent`       |
 * | final refusal: receiver or DNS       | bounced   | BOUNCED   | `email.bounce`; class hard: suppressed |
 * | transient, and time is left          | deferred  | PENDING   | due again                              |
 * | transient, and the time is over      | failed    | FAILED    | error                                  |
 * | our own error, cancelled, forbidden  | failed    | FAILED    | error                                  |
 * | on the suppression list by now       | suppressed| SUPPRESSED|                                        |
 *
 * Waiting (queued, deferred, held) and being sent (sending) are the queue's: `queue.ts`, `operate.ts`.
 */
import type { AttemptOutcome } from '../../outbound/attempt.ts'
import { and, eq, sql } from '../../store/drizzle.ts'
import { type Email, emails } from '../../store/schema.ts'
import { parameter, statement, type Tx } from '../../store/store.ts'
import { setSubscribed } from '../contacts/upsert.ts'
import type { Core } from '../core.ts'
import { appendEvents, type NewEvent } from '../events/append.ts'
import { type AttemptRecord, type InFlightEmail, insertAttempts } from './attempt-row.ts'
import { retryDelayMs } from './schedule.ts'
import { suppress } from './suppression.ts'

type Transition = {
  state: Email['state']
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
  deps: Pick<Core, 'config' | 'now' | 'bell'>,
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
  await insertAttempts(
    tx,
    settled.map(({ record }) => record),
  )
  await appendEvents(
    tx,
    settled.flatMap((each) => outcomeEvents(each, at)),
  )
  for (const each of settled) await suppressHardBounce(tx, each, at)
  tx.afterCommit(() => {
    for (const each of settled) ringWhenDue(deps, each)
  })
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

function ringWhenDue({ bell }: Pick<Core, 'bell'>, { record, transition }: Settlement): void {
  const { queueClass, recipientDomain: domain, projectId } = record.email
  const { dueAt } = transition
  if (dueAt !== null) bell.ring({ queueClass, domain, projectId, dueAt })
}

/** An email that ends without an attempt: cancelled, forbidden by now, our own error. */
export async function failEmail(
  tx: Tx,
  email: Pick<Email, 'id' | 'state'>,
  { error, at }: { error: string; at: number },
): Promise<boolean> {
  return endEmail(tx, email, { state: 'failed', status: 'FAILED', error, at })
}

/** An email whose address was suppressed after its acceptance. */
export async function endSuppressed(
  tx: Tx,
  email: Pick<Email, 'id' | 'state'>,
  at: number,
): Promise<boolean> {
  return endEmail(tx, email, { state: 'suppressed', status: 'SUPPRESSED', error: null, at })
}

async function endEmail(
  tx: Tx,
  email: Pick<Email, 'id' | 'state'>,
  { at, ...end }: Pick<Email, 'state' | 'status' | 'error'> & { at: number },
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
    .returning({ id: emails.id })
  return ended.length > 0
}

function decide(
  deps: Pick<Core, 'config'>,
  { email, outcome }: AttemptRecord,
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
  const said = describeOutcome(outcome)
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
      return at >= email.giveUpAt
        ? { ...plain, error: `given up; the last answer was: ${said}`, isFailure: true }
        : { ...plain, ...deferral(deps, { email, outcome, at }), error: said }
  }
}

function deferral(
  { config }: Pick<Core, 'config'>,
  { email, outcome, at }: { email: InFlightEmail; outcome: AttemptOutcome; at: number },
): Pick<Transition, 'state' | 'status' | 'dueAt' | 'isFailure'> {
  const isFailure = outcome.verdict?.countsAsFailure ?? true
  const scheduled = retryDelayMs(config.delivery.retrySchedule, email.failureCount)
  const delayMs = Math.max(scheduled, outcome.verdict?.retryAfterMs ?? 0)
  const dueAt = Math.min(at + delayMs, Math.max(email.giveUpAt, at + 1_000))
  return { state: 'deferred', status: 'PENDING', dueAt, isFailure }
}

/** The refusal as one line, or what went wrong without one. */
function describeOutcome({ reply, error }: AttemptOutcome): string {
  const isRefusal = reply !== null && reply.code >= 400
  if (!isRefusal) return error ?? 'no answer'
  const text = reply.text.split('\n').join(' ')
  return [reply.code, reply.enhancedCode, text].filter((part) => part !== null).join(' ')
}

/** The queue id in a smarthost's answer, as `250 2.0.0 Ok: queued as 4F2C91` or an SES message id. */
export function providerIdOf({ reply }: AttemptOutcome): string | null {
  if (reply === null) return null
  const named = /\b(?:queued as|id=|queued mail for delivery)\s*[:<]?\s*([\w.@-]{4,200})/i.exec(
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

async function suppressHardBounce(
  tx: Tx,
  { record, transition }: Settlement,
  at: number,
): Promise<void> {
  const { email, outcome } = record
  if (transition.state !== 'bounced' || outcome.verdict?.isHard !== true) return
  await suppress(tx, {
    projectId: email.projectId,
    email: email.recipient,
    reason: 'HARD_BOUNCE',
    source: describeOutcome(outcome),
    emailId: email.id,
    at,
  })
  const change = { subscribed: false, at, reason: 'bounce', emailId: email.id }
  await setSubscribed(tx, email.contactId, change)
}
