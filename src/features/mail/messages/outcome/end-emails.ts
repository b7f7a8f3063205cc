/** Ends emails without an attempt. `final-state.ts` has the table of states. */
import { sql } from '../../../../store/drizzle.ts'
import { type Email, emails } from '../../../../store/schema/messages.ts'
import { SHELF } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { appendEvents, type NewEvent } from '../../../ground/events/append.ts'
import {
  columnsAtRest,
  type EmailOfEvent,
  emailEvent,
  type FailureReason,
  failedEvent,
  logOutcome,
} from './final-state.ts'

type EndedEmail = EmailOfEvent & Pick<Email, 'recipient' | 'attemptCount'>
type Deps = Pick<Base, 'log' | 'counters'>

/** The end of an email without an attempt or a report. */
export type EmailEnd =
  | { state: 'failed'; error: string | null; reason: FailureReason }
  | { state: 'suppressed' }

export type Ending = { email: EndedEmail & Pick<Email, 'state'>; end: EmailEnd }

/**
 * The end of an email whose row was inserted in its final state. `at`: the time of its acceptance.
 */
type InsertedEnding = { email: Omit<EndedEmail, 'attemptCount'>; end: EmailEnd; at: number }

/** The columns of an email that `endEmails` needs. */
export const endingColumns = {
  id: emails.id,
  projectId: emails.projectId,
  contactId: emails.contactId,
  recipient: emails.recipient,
  state: emails.state,
  attemptCount: emails.attemptCount,
}

const endWithoutAttempt = statement((db) =>
  db
    .update(emails)
    .set({
      ...columnsAtRest,
      state: parameter('state'),
      status: parameter('status'),
      shelf: parameter('shelf'),
      error: parameter('error'),
      attemptCount: parameter('attemptCount'),
    })
    .where(sql`${emails.id} = ${parameter('id')} and ${emails.state} = ${parameter('from')}`),
)

/**
 * Ends emails without an attempt, except those whose state has changed since the caller read it.
 * Returns the number of emails that it ended.
 */
export async function endEmails(
  deps: Deps,
  tx: Tx,
  { endings, at }: { endings: readonly Ending[]; at: number },
): Promise<number> {
  const rows = endings.map(({ email, end }) => ({
    id: email.id,
    from: email.state,
    state: end.state,
    status: end.state === 'failed' ? 'FAILED' : 'SUPPRESSED',
    shelf: SHELF[end.state],
    error: end.state === 'failed' ? end.error : null,
    attemptCount: attemptsOf(email),
    at,
  }))
  const changed = await tx.executeEach(endWithoutAttempt, rows)
  const ended = endings.filter((_, index) => changed[index] === 1)
  await appendEvents(
    tx,
    ended.map(({ email, end }) => endEvent(email, end, at)),
  )
  tx.afterCommit(() => {
    for (const { email, end } of ended) logEnd(deps, email, { end, attempts: attemptsOf(email) })
  })
  return ended.length
}

/**
 * Returns the number of attempts that were made: the claim of an email that is being sent has
 * counted one that was not.
 */
function attemptsOf({ state, attemptCount }: Ending['email']): number {
  return state === 'sending' ? attemptCount - 1 : attemptCount
}

function endEvent(email: EmailOfEvent, end: EmailEnd, at: number) {
  return end.state === 'failed'
    ? failedEvent(email, { error: end.error, reason: end.reason, at })
    : emailEvent(email, 'email.suppressed', { at })
}

/**
 * Makes the event of an email that ends with its acceptance. `atAcceptance` tells
 * `features/ground/usage` that the email was never counted.
 */
function endAtAcceptance(email: EmailOfEvent, end: EmailEnd, at: number): NewEvent {
  const event = endEvent(email, end, at)
  return { ...event, data: { ...event.data, atAcceptance: true } }
}

function logEnd(
  deps: Deps,
  email: InsertedEnding['email'],
  { end, attempts }: { end: EmailEnd; attempts: number },
): void {
  const reason = end.state === 'failed' ? end.error : null
  logOutcome(deps, { email, outcome: end.state, attempts, reason })
}

/**
 * Records the end of emails whose rows were inserted in their final state, and which were not
 * counted for usage.
 */
export async function recordEnded(
  deps: Deps,
  tx: Tx,
  endings: readonly InsertedEnding[],
): Promise<void> {
  if (endings.length === 0) return
  await appendEvents(
    tx,
    endings.map(({ email, end, at }) => endAtAcceptance(email, end, at)),
  )
  tx.afterCommit(() => {
    for (const { email, end } of endings) logEnd(deps, email, { end, attempts: 0 })
  })
}
