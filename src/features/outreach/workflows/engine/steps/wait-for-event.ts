/**
 * WAIT_FOR_EVENT: waits until an event comes or the timeout is over. The step decides between the
 * two in its transaction. An event that came after the wait began wins, even if the handler of
 * events has not read it yet when the timeout is due.
 *
 * A wait that is reached without a pause begins with the event that led to it: the one that started the
 * execution, or that ended the wait before. Otherwise it begins when it is reached.
 */
import { DAY_MS, formatInstant, SECOND_MS } from '../../../../../base/clock.ts'
import { unindexed } from '../../../../../store/dialect.ts'
import { asc, eq, sql } from '../../../../../store/drizzle.ts'
import { type EventRow, events } from '../../../../../store/schema/events.ts'
import { workflowWaits } from '../../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../../store/statement.ts'
import type { Tx } from '../../../../../store/write/transaction.ts'
import { isAutomaticRow } from '../../../../ground/conditions/automatic-mail.ts'
import { storedEventName } from '../../../../ground/conditions/field.ts'
import { readEventContexts } from '../../../../ground/events/context.ts'
import type { StepOf } from '../../graph/step-config.ts'
import { STEP_ERRORS } from '../../reasons.ts'
import type { OpenStep, StepCall, StepOutcome, WalkingExecution } from '../walk.ts'
import { findEmailOfStep } from './send-email.ts'

type WaitCall = StepCall<StepOf<'WAIT_FOR_EVENT'>>

/** How far the clock may go back while an execution waits, without an event being missed. */
const CLOCK_STEP_MS = 2 * DAY_MS

const findNewest = statement<{ seq: number }>(
  () => sql`select coalesce(max(seq), 0) as seq from events`,
)

const insertWait = statement((db) =>
  db
    .insert(workflowWaits)
    .values({
      executionNumber: parameter('executionNumber'),
      workflowId: parameter('workflowId'),
      contactId: parameter('contactId'),
      eventName: parameter('eventName'),
      emailId: parameter('emailId'),
      afterSeq: parameter('afterSeq'),
      includesAutomatic: parameter('includesAutomatic'),
    })
    .onConflictDoUpdate({
      // A row may be left over: the step failed by a fault of the program, and is now tried again.
      target: workflowWaits.executionNumber,
      set: {
        eventName: parameter('eventName'),
        emailId: parameter('emailId'),
        afterSeq: parameter('afterSeq'),
        includesAutomatic: parameter('includesAutomatic'),
        eventSeq: null,
      },
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

/**
 * Finds the first event after the number `afterSeq`. `emailId`: null for any email. `since`: limits
 * how many events are read; only `afterSeq` decides which event counts.
 */
const findFirstAfter = statement((db) =>
  db
    .select()
    .from(events)
    .where(
      sql`${events.contactId} = ${parameter('contactId')} and ${events.name} = ${parameter('name')}
        and ${events.createdAt} >= ${parameter('since')}
        and ${unindexed(events.seq)} > ${parameter('afterSeq')}
        and (${parameter('emailId')} is null or ${events.emailId} = ${parameter('emailId')})
        and (${parameter('includesAutomatic')} or ${events.name} <> 'email.received'
          or not ${isAutomaticRow})`,
    )
    .orderBy(asc(unindexed(events.seq)))
    .limit(1),
)

/**
 * Finds the first open or click of mail to another person than the contact. The event names no
 * contact, so it is found by its instant in the row of the email.
 */
const findFirstOfOther = statement((db) =>
  db
    .select()
    .from(events)
    .where(
      sql`${events.projectId} = (select project_id from emails where id = ${parameter('emailId')})
        and ${events.name} = ${parameter('name')}
        and ${events.createdAt} = (select case ${parameter('name')} when 'email.open' then opened_at
          when 'email.click' then clicked_at end from emails where id = ${parameter('emailId')})
        and ${events.contactId} is null and ${events.emailId} = ${parameter('emailId')}
        and ${unindexed(events.seq)} > ${parameter('afterSeq')}`,
    )
    .limit(1),
)

export async function beginWait(
  tx: Tx,
  { step: { config }, execution }: WaitCall,
  { workflowId, at }: { workflowId: string; at: number },
): Promise<StepOutcome> {
  const { eventName, timeout, stepId, includeAutomatic = false } = config
  const emailId =
    stepId === undefined ? null : ((await findEmailOfStep(tx, execution, stepId)) ?? '')
  const wait = {
    executionNumber: execution.number,
    contactId: execution.contact.id,
    eventName: storedEventName(eventName),
    emailId,
    includesAutomatic: includeAutomatic,
    afterSeq: execution.eventSeq ?? (await tx.find(findNewest))?.seq ?? 0,
  }
  // The awaited event may have come after the event that led here, but before this transaction.
  const early =
    execution.eventSeq === null
      ? undefined
      : await findEnd(tx, { ...wait, eventSeq: null }, execution.startedAt - CLOCK_STEP_MS)
  if (early !== undefined) return ended(tx, { execution, eventName, event: early, at })
  await tx.execute(insertWait, { ...wait, workflowId })
  const dueAt = timeout === undefined ? null : at + timeout * SECOND_MS
  const input = { eventName, timeout: timeout ?? null, ...(emailId ? { emailId } : {}) }
  return { kind: 'waits', dueAt, executeAfter: dueAt, input }
}

export async function resumeWait(
  tx: Tx,
  { step: { config }, execution }: WaitCall,
  { open: { executeAfter, startedAt }, at }: { open: OpenStep; at: number },
): Promise<StepOutcome> {
  const { eventName } = config
  const key = { executionNumber: execution.number }
  const wait = await tx.find(findWait, key)
  if (wait === undefined) return { kind: 'failed', error: STEP_ERRORS.step_wait_lost }
  const event = await findEnd(tx, wait, startedAt - CLOCK_STEP_MS)
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
  return ended(tx, { execution, eventName, event, at })
}

type Wait = Omit<typeof workflowWaits.$inferSelect, 'workflowId'>

/** Ends the wait because the event came. `event`: undefined if the event was deleted meanwhile. */
async function ended(
  tx: Tx,
  {
    execution,
    eventName,
    event,
    at,
  }: { execution: WalkingExecution; eventName: string; event: EventRow | undefined; at: number },
): Promise<StepOutcome> {
  const contextOf = await readEventContexts(tx, event === undefined ? [] : [event])
  const eventData = event === undefined ? {} : contextOf(event)
  const receivedAt = formatInstant(event?.createdAt ?? at)
  execution.eventSeq = event?.seq ?? null
  const output = { waitOutcome: 'EVENT', eventReceived: true, eventName, eventData, receivedAt }
  return { kind: 'done', waitOutcome: 'EVENT', output, context: eventData }
}

async function findEnd(tx: Tx, wait: Wait, since: number) {
  const { eventSeq, contactId, eventName: name, emailId, afterSeq, includesAutomatic } = wait
  if (eventSeq !== null) return tx.find(findEvent, { seq: eventSeq })
  const wanted = { contactId, name, emailId, afterSeq, includesAutomatic, since }
  const found = await tx.find(findFirstAfter, wanted)
  if (found !== undefined || !emailId) return found
  return tx.find(findFirstOfOther, { emailId, name, afterSeq })
}
