/**
 * WAIT_FOR_EVENT (contract 5.4). Event and timeout race, and this step, in its transaction, decides for
 * one of them. An event that came after the wait began wins, also if the follower of events has not
 * read it yet when the timeout is due.
 */
import { formatInstant } from '../../../../clock.ts'
import { unindexed } from '../../../../store/dialect.ts'
import { asc, eq, sql } from '../../../../store/drizzle.ts'
import { events } from '../../../../store/schema/events.ts'
import { workflowWaits } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { storedEventName } from '../../../conditions/field.ts'
import { unwrapEventData } from '../../../events/non-persistent.ts'
import type { StepOf } from '../../graph/step-config.ts'
import type { OpenStep, StepCall, StepOutcome } from '../walk.ts'
import { findEmailOfStep } from './email-of-step.ts'

type WaitCall = StepCall<StepOf<'WAIT_FOR_EVENT'>>

const SECOND_MS = 1_000

const findNewest = statement<{ seq: number }>(
  () => sql`select coalesce(max(seq), 0) as seq from events`,
)

const insertWait = statement((db) =>
  db.insert(workflowWaits).values({
    executionNumber: parameter('executionNumber'),
    workflowId: parameter('workflowId'),
    contactId: parameter('contactId'),
    eventName: parameter('eventName'),
    emailId: parameter('emailId'),
    afterSeq: parameter('afterSeq'),
  }),
)

const findWait = statement((db) =>
  db
    .select()
    .from(workflowWaits)
    .where(eq(workflowWaits.executionNumber, parameter('executionNumber'))),
)

const deleteWait = statement((db) =>
  db.delete(workflowWaits).where(eq(workflowWaits.executionNumber, parameter('executionNumber'))),
)

const findEvent = statement((db) =>
  db
    .select()
    .from(events)
    .where(eq(events.seq, parameter('seq'))),
)

/** `emailId`: null for any. */
const findFirstAfter = statement((db) =>
  db
    .select()
    .from(events)
    .where(
      sql`${events.contactId} = ${parameter('contactId')} and ${events.name} = ${parameter('name')}
        and ${unindexed(events.seq)} > ${parameter('afterSeq')}
        and (${parameter('emailId')} is null or ${events.emailId} = ${parameter('emailId')})`,
    )
    .orderBy(asc(unindexed(events.seq)))
    .limit(1),
)

export async function beginWait(
  tx: Tx,
  { step: { config }, execution }: WaitCall,
  { workflowId, at }: { workflowId: string; at: number },
): Promise<StepOutcome> {
  const { eventName, timeout, stepId } = config
  const newest = await tx.find(findNewest)
  const emailId =
    stepId === undefined ? null : ((await findEmailOfStep(tx, execution, stepId)) ?? '')
  await tx.execute(insertWait, {
    executionNumber: execution.number,
    workflowId,
    contactId: execution.contact.id,
    eventName: storedEventName(eventName),
    emailId,
    afterSeq: newest?.seq ?? 0,
  })
  const dueAt = timeout === undefined ? null : at + timeout * SECOND_MS
  const input = { eventName, timeout: timeout ?? null, ...(emailId ? { emailId } : {}) }
  return { kind: 'waits', dueAt, executeAfter: dueAt, input }
}

export async function resumeWait(
  tx: Tx,
  { step: { config }, execution }: WaitCall,
  { executeAfter, at }: { executeAfter: OpenStep['executeAfter']; at: number },
): Promise<StepOutcome> {
  const { eventName } = config
  const key = { executionNumber: execution.number }
  const wait = await tx.find(findWait, key)
  if (wait === undefined) return { kind: 'failed', error: 'the wait is lost' }
  const event = await findEnd(tx, wait)
  if (
    event === undefined &&
    wait.eventSeq === null &&
    (executeAfter === null || executeAfter > at)
  ) {
    return { kind: 'waits', dueAt: executeAfter, executeAfter }
  }
  await tx.execute(deleteWait, key)
  if (event === undefined && wait.eventSeq === null) {
    const output = { waitOutcome: 'TIMEOUT', timedOut: true, eventName }
    return { kind: 'done', waitOutcome: 'TIMEOUT', output }
  }
  // The event may have been deleted meanwhile; it came all the same.
  const eventData = unwrapEventData(event?.data)
  const receivedAt = formatInstant(event?.createdAt ?? at)
  const output = { waitOutcome: 'EVENT', eventReceived: true, eventName, eventData, receivedAt }
  return { kind: 'done', waitOutcome: 'EVENT', output, context: eventData }
}

async function findEnd(tx: Tx, wait: typeof workflowWaits.$inferSelect) {
  const { eventSeq, contactId, eventName: name, emailId, afterSeq } = wait
  if (eventSeq !== null) return tx.find(findEvent, { seq: eventSeq })
  return tx.find(findFirstAfter, { contactId, name, emailId, afterSeq })
}
