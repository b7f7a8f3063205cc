/**
 * The states in which an email ends. Every final state is written here (by an attempt), in
 * `end-emails.ts` (without an attempt) or in `write-report.ts` (by a report), together with its
 * events, in the transaction of the attempt, report or command that decides it.
 *
 * | attempt                              | state     | status    | also                                   |
 * |--------------------------------------|-----------|-----------|----------------------------------------|
 * | final 250 of an MX or the sandbox    | delivered | DELIVERED | sentAt = deliveredAt, `email.sent`,    |
 * |                                      |           |           | `email.delivery`                       |
 * | final 250 of a smarthost             | relayed   | SENT      | sentAt, providerId, `email.sent`       |
 * | final refusal: receiver or DNS       | bounced   | BOUNCED   | `email.bounce`; class hard: suppressed |
 * |                                      |           |           | or held (`suppress-bounced.ts`);       |
 * |                                      |           |           | quota, disabled, unexplained: a strike |
 * | transient, before the give-up time   | deferred  | PENDING   | due again                              |
 * | transient, begun after the give-up   | failed    | FAILED    | error, `email.failed` (given_up)       |
 * | time                                 |           |           |                                        |
 * | error of this server                 | failed    | FAILED    | error, `email.failed` (error)          |
 *
 * | without an attempt                   | state     | status    | also                                   |
 * |--------------------------------------|-----------|-----------|----------------------------------------|
 * | its site took nothing in time        | failed    | FAILED    | error, `email.failed` (given_up)       |
 * | cancelled by an operator             | failed    | FAILED    | error, `email.failed` (cancelled)      |
 * | no longer allowed when it is claimed | failed    | FAILED    | error, `email.failed` (refused)        |
 * | address suppressed, at acceptance or | suppressed| SUPPRESSED| `email.suppressed`                     |
 * | when it is claimed                   |           |           |                                        |
 *
 * | later report                         | state     | status    | also                                   |
 * |--------------------------------------|-----------|-----------|----------------------------------------|
 * | action failed, of any class          | bounced   | BOUNCED   | as a final refusal; also for emails    |
 * |                                      |           |           | delivered, opened or given up; first   |
 * |                                      |           |           | `email.sent` unless it was recorded    |
 * | delay                                | -         | -         | `email.bounce`, transient; once        |
 * | relayed mail has arrived             | delivered | DELIVERED | deliveredAt, `email.delivery`; OPENED  |
 * |                                      |           |           | and CLICKED stay                       |
 * | complaint                            | -, or     | COMPLAINED| `email.complaint`; suppressed and      |
 * |                                      | delivered |           | unsubscribed; BOUNCED stays; an email  |
 * |                                      |           |           | under way is first delivered           |
 *
 * BOUNCED and COMPLAINED are terminal: no later outcome overwrites them, and an outcome that is
 * already on record (a refusal in the session, the same report before) is not counted again. If a
 * report arrives before the session's outcome is recorded, the report decides; the session only
 * adds its attempt row. `features/mail/tracking` turns delivered mail OPENED and CLICKED. An operator
 * may retry an email that failed (`queue/operate.ts`).
 *
 * The queue writes the states queued, held, paused and sending, and `deferred` if no attempt decides it.
 */
import { eachOf, jsonItem } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { Email } from '../../../../store/schema/messages.ts'
import { shelfAfterAttempt } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { appendEvents, type NewEvent } from '../../../ground/events/append.ts'

/** Why an email failed, as `email.failed` names it. */
export type FailureReason = 'given_up' | 'cancelled' | 'refused' | 'error'

/** `Permanent`: no mail can be delivered to the address. */
export type BounceType = 'Permanent' | 'Undetermined'

/** The columns that an event of an email needs. */
export type EmailOfEvent = Pick<Email, 'id' | 'projectId' | 'contactId'>

/**
 * The facts about an email that decide how its outcome is written: whether it leaves a shelf, or is
 * sealed.
 */
export type ShelvedEmail = Pick<Email, 'id' | 'campaignId'> & { isSealed: boolean }

type EmailEvent = NewEvent & { data: Record<string, unknown> | null }

/** A report may have the enhanced code only. */
type Codes = { code: number | null; enhancedCode: string | null }

type LoggedOutcome = {
  email: Pick<Email, 'id' | 'projectId' | 'recipient'>
  outcome: Extract<
    Email['state'],
    'delivered' | 'relayed' | 'bounced' | 'failed' | 'suppressed' | 'deferred'
  >
  /** The class of the reply that decided, as `queue show` prints it. */
  class?: string | null
  site?: string | null
  reply?: Codes | null
  /** The number of attempts so far. */
  attempts: number
  /** The duration of the deciding attempt. */
  durationMs?: number
  /** Why the email was not delivered. */
  reason?: string | null
}

/** The changes of an email by an attempt; instants that the attempt does not set are null. */
export type EmailTransition = Pick<
  Email,
  'status' | 'error' | 'dueAt' | 'sentAt' | 'deliveredAt' | 'bouncedAt' | 'providerId'
> & {
  state: LoggedOutcome['outcome']
  /** Whether the attempt counts as failed, so that the next retry delay is longer. */
  isFailure: boolean
  bounceType: BounceType
  failureReason: FailureReason
}

export type Settlement = {
  email: EmailOfEvent & ShelvedEmail
  /** The subject as it was rendered. */
  subject: string
  transition: EmailTransition
}

const MAX_REASON_LENGTH = 200

const notLeased = { retryAt: sql`null`, leaseUntil: sql`null` }
/**
 * The columns of the queue in every final state. The shelf is not among them, because it depends on
 * the state.
 */
export const columnsAtRest = {
  ...notLeased,
  dueAt: sql`null`,
  heldAt: sql`null`,
  sealedVariables: sql`null`,
  updatedAt: parameter('at'),
}

const item = (index: number) => jsonItem(sql`row.value`, index)
const isSettled = sql`emails.id = ${item(0)} and emails.state = 'sending'`

const delivered = sql`state = 'delivered', status = 'DELIVERED', subject = ${item(1)}, error = null,
  sent_at = ${parameter('at')}, delivered_at = ${parameter('at')}, retry_at = null, lease_until = null,
  updated_at = ${parameter('at')}`

/**
 * Writes almost all outcomes: deliveries of emails that belong to no campaign and are not sealed.
 * The statement names only the columns that such a delivery changes, so it writes no index but
 * those of the queue. `rows`: ids and subjects.
 */
export const settleDelivered = statement<{ id: string }>(
  () => sql`update emails set ${delivered}
    from ${eachOf(parameter('rows'))} as row where ${isSettled} returning id`,
)

/** Writes the deliveries of emails that leave a shelf, or are sealed. */
export const settleShelved = statement<{ id: string }>(
  () => sql`update emails set ${delivered}, shelf = null, sealed_variables = null
    from ${eachOf(parameter('rows'))} as row where ${isSettled} returning id`,
)

/** `rows`: lists as `otherRow` makes them. */
export const settleOthers = statement<{ id: string }>(
  () => sql`update emails set subject = ${item(1)}, state = ${item(2)}, status = ${item(3)},
      error = ${item(4)}, due_at = ${item(5)}, sent_at = ${item(6)}, bounced_at = ${item(7)},
      provider_id = ${item(8)}, failure_count = failure_count + ${item(9)},
      shelf = ${item(10)},
      sealed_variables = case ${item(2)} when 'deferred' then sealed_variables end,
      retry_at = null, lease_until = null, updated_at = ${parameter('at')}
    from ${eachOf(parameter('rows'))} as row where ${isSettled} returning id`,
)

/**
 * Writes the outcomes of attempts to their emails; false for emails that are no longer being sent.
 */
export async function settleAttempts(
  tx: Tx,
  settlements: readonly Settlement[],
  at: number,
): Promise<boolean[]> {
  const first = firstOfEach(settlements)
  const arrived = first.filter(isDelivered)
  const plain = arrived.filter(isPlain).map(deliveredRow)
  const shelved = arrived.filter((each) => !isPlain(each)).map(deliveredRow)
  const others = first.filter((each) => !isDelivered(each)).map(otherRow)
  const open = new Set<string>()
  for (const [settle, rows] of [
    [settleDelivered, plain],
    [settleShelved, shelved],
    [settleOthers, others],
  ] as const) {
    if (rows.length === 0) continue
    for (const { id } of await tx.list(settle, { rows: JSON.stringify(rows), at })) open.add(id)
  }
  const isSettled = settlements.map(({ email }) => open.delete(email.id))
  const settled = settlements.filter((_, index) => isSettled[index])
  await appendEvents(
    tx,
    settled.flatMap((each) => attemptEvents(each, at)),
  )
  return isSettled
}

/** Returns the first outcome of each email: only this one counts, whichever statement writes it. */
function firstOfEach(settlements: readonly Settlement[]): readonly Settlement[] {
  const seen = new Set<string>()
  for (const { email } of settlements) seen.add(email.id)
  if (seen.size === settlements.length) return settlements
  return settlements.filter(({ email }) => seen.delete(email.id))
}

function isDelivered({ transition }: Settlement): boolean {
  return transition.state === 'delivered'
}

function isPlain({ email }: Settlement): boolean {
  return email.campaignId === null && !email.isSealed
}

/**
 * Makes a row of `settleDelivered`. The subject is made well-formed: SQLite would keep a lone
 * surrogate from JSON, which is not valid text.
 */
function deliveredRow({ email, subject }: Settlement) {
  return [email.id, subject.toWellFormed()]
}

function otherRow({ email, subject, transition }: Settlement) {
  const { state, status, error, dueAt, sentAt, bouncedAt, providerId, isFailure } = transition
  const shelf = shelfAfterAttempt(transition, email.campaignId !== null)
  const texts = [subject.toWellFormed(), state, status, error?.toWellFormed() ?? null]
  return [email.id, ...texts, dueAt, sentAt, bouncedAt, providerId, isFailure ? 1 : 0, shelf]
}

function attemptEvents({ email, transition }: Settlement, at: number): NewEvent[] {
  const { sentAt, deliveredAt, bouncedAt, bounceType, state, error, failureReason } = transition
  const events: NewEvent[] = []
  if (sentAt !== null) events.push(emailEvent(email, 'email.sent', { at }))
  if (deliveredAt !== null) events.push(emailEvent(email, 'email.delivery', { at }))
  if (bouncedAt !== null)
    events.push(emailEvent(email, 'email.bounce', { at, data: { bounceType } }))
  if (state === 'failed') events.push(failedEvent(email, { error, reason: failureReason, at }))
  return events
}

export function failedEvent(
  email: EmailOfEvent,
  { error, reason, at }: { error: string | null; reason: FailureReason; at: number },
): EmailEvent {
  return emailEvent(email, 'email.failed', { at, data: { error, reason } })
}

/** Makes an event of an email. */
export function emailEvent(
  { id: emailId, projectId, contactId }: EmailOfEvent,
  name: string,
  { at, data = null }: { at: number; data?: EmailEvent['data'] },
): EmailEvent {
  return { projectId, contactId, emailId, name, data, at }
}

/**
 * Logs the outcome of an email and its first deferral, and counts every outcome and deferral. Call
 * it when the outcome is durable.
 */
export function logOutcome(
  { log, counters }: Pick<Base, 'log' | 'counters'>,
  logged: LoggedOutcome,
): void {
  const { outcome, attempts } = logged
  const replyClass = logged.class ?? 'none'
  if (outcome === 'deferred') {
    counters.add('pillarbox_email_deferrals_total', { class: replyClass })
    if (attempts > 1) return
  } else counters.add('pillarbox_email_outcomes_total', { outcome, class: replyClass })
  log.info(factsOf(logged), `email ${outcome}`)
}

function factsOf({ email, site, reply, attempts, durationMs, reason, ...logged }: LoggedOutcome) {
  return {
    emailId: email.id,
    projectId: email.projectId,
    to: email.recipient,
    site: site ?? undefined,
    class: logged.class ?? undefined,
    code: reply ? codeOf(reply) : undefined,
    attempts,
    durationMs: durationMs === undefined ? undefined : Math.round(durationMs),
    reason: reason?.slice(0, MAX_REASON_LENGTH),
  }
}

/** `550 5.1.1` */
function codeOf({ code, enhancedCode }: Codes): string | undefined {
  const known = [code, enhancedCode].filter((part) => part !== null)
  return known.length === 0 ? undefined : known.join(' ')
}
