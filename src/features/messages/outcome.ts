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
import { attempts, type Email, emails } from '../../store/schema.ts'
import { parameter, statement, type Tx } from '../../store/store.ts'
import { setSubscribed } from '../contacts/upsert.ts'
import type { Core } from '../core.ts'
import { appendEvent } from '../events/append.ts'
import { retryDelayMs } from './schedule.ts'
import { suppress } from './suppression.ts'

/** What the transitions need to know of the row. */
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
>

export type AttemptRecord = {
  email: InFlightEmail
  outcome: AttemptOutcome
  /** As rendered; null when it was not. */
  subject: string | null
  startedAt: number
}

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
      retryAt: null,
      leaseId: null,
      leaseUntil: null,
      updatedAt: parameter('at'),
    })
    .where(and(eq(emails.id, parameter('id')), eq(emails.state, 'sending')))
    .returning({ id: emails.id }),
)

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
    steps: parameter('steps'),
  }),
)

/** Records one attempt and all that follows from it; nothing, if the email is gone meanwhile. */
export async function recordAttempt(
  deps: Pick<Core, 'config' | 'now' | 'bell'>,
  tx: Tx,
  record: AttemptRecord,
): Promise<void> {
  const { email, outcome } = record
  const at = deps.now()
  const transition = decide(deps, record, at)
  const { isFailure, ...values } = transition
  const subject = record.subject ?? email.subject
  const settled = await tx.find(settleEmail, {
    ...values,
    id: email.id,
    subject,
    failures: isFailure ? 1 : 0,
    at,
  })
  if (settled === undefined) return
  await tx.execute(insertAttempt, attemptRow(record))
  await appendOutcomeEvents(tx, email, { transition, outcome, at })
  if (transition.state === 'bounced' && outcome.verdict?.isHard === true) {
    await suppressHardBounce(tx, email, { outcome, at })
  }
  const { dueAt } = transition
  if (dueAt !== null) tx.afterCommit(() => deps.bell.ring({ ...laneOf(email), dueAt }))
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

function attemptRow({ email, outcome, startedAt }: AttemptRecord) {
  return {
    emailId: email.id,
    at: startedAt,
    durationMs: Math.round(outcome.durationMs),
    result: outcome.result,
    class: outcome.verdict?.class ?? null,
    host: outcome.host,
    address: outcome.address,
    tls: outcome.tls,
    replyCode: outcome.reply?.code ?? null,
    enhancedCode: outcome.reply?.enhancedCode ?? null,
    replyText: outcome.reply?.text ?? null,
    error: outcome.error,
    isMaybeDelivered: outcome.isMaybeDelivered,
    steps: outcome.steps,
  }
}

async function appendOutcomeEvents(
  tx: Tx,
  email: InFlightEmail,
  { transition, outcome, at }: { transition: Transition; outcome: AttemptOutcome; at: number },
): Promise<void> {
  const of = { projectId: email.projectId, contactId: email.contactId, emailId: email.id, at }
  if (transition.sentAt !== null) await appendEvent(tx, { ...of, name: 'email.sent', data: null })
  if (transition.deliveredAt !== null) {
    await appendEvent(tx, { ...of, name: 'email.delivery', data: null })
  }
  if (transition.bouncedAt !== null) {
    const bounceType = outcome.verdict?.isHard === true ? 'Permanent' : 'Undetermined'
    await appendEvent(tx, { ...of, name: 'email.bounce', data: { bounceType } })
  }
}

async function suppressHardBounce(
  tx: Tx,
  email: InFlightEmail,
  { outcome, at }: { outcome: AttemptOutcome; at: number },
): Promise<void> {
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

function laneOf({ queueClass, recipientDomain, projectId }: InFlightEmail) {
  return { queueClass, domain: recipientDomain, projectId }
}
