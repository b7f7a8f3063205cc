/**
 * The handler of events: an event ends waits for it and starts executions of enabled workflows. It only
 * writes rows that the engine works on later, so that no event can fail here and hold up the others.
 *
 * Received mail that a machine sent or may have sent ends no wait and starts nothing, unless the
 * wait or the trigger includes such mail. A step may write to another person than the contact: an
 * open or click by this person ends the contact's waits for that email.
 */
import { parseJsonText } from '../../../../base/json-text.ts'
import { eachOf, jsonItem, jsonValue, listOf, orderedJoin } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { EventRow } from '../../../../store/schema/events.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { whileAny } from '../../../../work/follower-handlers.ts'
import type { Base } from '../../../ground/base.ts'
import {
  isAutomaticEvent,
  isAutomaticRow,
  RECEIVED,
} from '../../../ground/conditions/automatic-mail.ts'
import type { UrgentEvent, UrgentHandler } from '../../../ground/event-handlers.ts'
import { readEventContexts } from '../../../ground/events/context.ts'
import { readEventDepths } from '../../../ground/events/depth.ts'
import { raiseExecutions, splitAtFence } from '../../../ground/fence/rows.ts'
import type { StartableWorkflow, WantedExecution } from '../executions/insert.ts'
import { startExecutions } from '../executions/start-executions.ts'
import { addFigures } from '../figures.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { DUE_AT_ONCE } from './walk.ts'

type TriggerDeps = Pick<Base, 'log' | 'now' | 'counters'> & {
  workflowNotifier: WorkflowNotifier
}

type OfContact<Event> = Event & { contactId: string }
type ContactEvent = OfContact<EventRow>
type Triggered = Omit<StartableWorkflow, 'allowsReentry'> & {
  allowsReentry: number
  /** 1 if the trigger includes received mail that a machine sent. */
  includeAutomatic: number | null
  event: string
  enabledSeq: number
}
type EndedWait = { executionNumber: number; workflowId: string; projectId: string; seq: number }

/** The most executions that the events of one transaction start; a single event may start more. */
const MAX_STARTS = 200

const item = (index: number) => jsonItem(sql`row.value`, index)

/**
 * Lists the waits that events end. `events`: a list for each event, of its seq, contact (null: the
 * contact of the email), name, email, and 1 if a machine sent the mail.
 */
const listEnded = statement<EndedWait>(
  () => sql`select wait.execution_number as "executionNumber", wait.workflow_id as "workflowId",
      execution.project_id as "projectId", min(${item(0)}) as seq
    from ${eachOf(parameter('events'))} as row
    ${orderedJoin()} workflow_waits as wait on wait.contact_id = coalesce(${item(1)},
        (select contact_id from emails where emails.id = ${item(3)}))
      and wait.event_name = ${item(2)}
    ${orderedJoin()} workflow_executions as execution
      on execution.number = wait.execution_number
    where wait.event_seq is null and ${item(0)} > wait.after_seq
      and (wait.email_id = ${item(3)} or wait.email_id is null and ${item(1)} is not null)
      and (${item(4)} = 0 or wait.includes_automatic = 1)
    group by wait.execution_number`,
)

/**
 * Writes the events that ended waits. `ended`: pairs of an execution's number and the event's seq.
 */
const endAll = statement(
  () => sql`update workflow_waits set event_seq = ${item(1)}
    from ${eachOf(parameter('ended'))} as row where execution_number = ${item(0)}`,
)

const wakeAll = statement(
  () => sql`update workflow_executions set due_at = ${DUE_AT_ONCE}
    where number in ${listOf(parameter('numbers'))} and status = 'WAITING'`,
)

/**
 * Lists the enabled workflows that events start. `names`: pairs of a project and the name of an
 * event.
 */
const listTriggered = statement<Triggered>(
  () => sql`select workflows.id, workflows.project_id as "projectId", workflows.name,
      workflows.allow_reentry as "allowsReentry", workflows.enabled_seq as "enabledSeq",
      workflows.cancelled_through as "cancelledThrough",
      workflows.cancel_reason as "cancelReason", workflows.trigger_event as event,
      ${jsonValue(sql`workflows.trigger_config`, 'includeAutomatic')} as "includeAutomatic",
      workflow_steps.id as "triggerStepId"
    from ${eachOf(parameter('names'))} as row
    ${orderedJoin()} workflows on workflows.project_id = ${item(0)}
      and workflows.trigger_event = ${item(1)} and workflows.enabled = 1
    ${orderedJoin()} projects on projects.id = workflows.project_id and projects.is_disabled = 0
    ${orderedJoin()} workflow_steps on workflow_steps.workflow_id = workflows.id
      and workflow_steps.type = 'TRIGGER' and workflow_steps.removed_at is null`,
)

/**
 * Lists the events among `seqs` that are about received mail which a machine sent or may have sent.
 */
const listAutomatic = statement<{ seq: number }>(
  () => sql`select seq from events where seq in ${listOf(parameter('seqs'))} and ${isAutomaticRow}`,
)

/** Reads the data of the events among `seqs` whose contact exists. */
const listData = statement<{ seq: number; data: string | null }>(
  () => sql`select events.seq, events.data from ${eachOf(parameter('seqs'))} as row
    ${orderedJoin()} events on events.seq = row.value
    ${orderedJoin()} contacts on contacts.id = events.contact_id
      and contacts.project_id = events.project_id`,
)

const findAny = statement<{ found: number }>(
  () => sql`select 1 as found where exists (select 1 from workflows where enabled = 1)
    or exists (select 1 from workflow_waits where event_seq is null)`,
)

/** The handler. After the upgrade that brings it, it begins at the newest event. */
export function triggerHandler(deps: TriggerDeps): UrgentHandler {
  return {
    name: 'workflows',
    beginsAt: 'newest',
    // While no workflow is enabled and no wait is open, events need not be read: only events from
    // after a workflow was enabled start it.
    mayMatter: whileAny(findAny),
    handle: (tx, rows, endAt) => applyEvents(deps, tx, { rows, endAt }),
  }
}

export async function applyEvents(
  deps: TriggerDeps,
  tx: Tx,
  { rows, endAt }: { rows: readonly UrgentEvent[]; endAt: (row: UrgentEvent) => void },
): Promise<void> {
  const known = rows.filter(({ contactId, emailId }) => (contactId ?? emailId) !== null)
  if (known.length === 0) return
  const triggered = await findTriggered(tx, known)
  const ended = await findEnded(tx, known)
  // Most events end here: they start no execution and end no wait.
  if (triggered.size === 0 && ended.length === 0) return
  const { events: together, isOld } = await splitAtFence(tx, rows)
  const end = together.at(-1)
  if (end !== undefined && together.length < rows.length) endAt(end)
  const all = known.filter(({ seq }) => seq <= (end?.seq ?? 0))
  const events = withinStarts(all, triggered)
  const last = events.at(-1)
  if (last === undefined) return
  if (events.length < all.length) endAt(last)
  await endWaits(
    deps,
    tx,
    ended.filter(({ seq }) => seq <= last.seq),
  )
  await startTriggered(deps, tx, { events: events.filter(isOfContact), triggered })
  if (isOld) await raiseExecutions(tx, events)
}

/** The workflows that events start, by project and name of the event (`nameOf`). */
type TriggeredByName = ReadonlyMap<string, readonly Triggered[]>

async function findTriggered(tx: Tx, events: readonly UrgentEvent[]): Promise<TriggeredByName> {
  const names = new Map(events.map((event) => [nameOf(event), [event.projectId, event.name]]))
  const found = await tx.list(listTriggered, { names: JSON.stringify([...names.values()]) })
  return Map.groupBy(found, ({ projectId, event }) => nameOf({ projectId, name: event }))
}

function isOfContact(event: UrgentEvent): event is OfContact<UrgentEvent> {
  return event.contactId !== null
}

function nameOf({ projectId, name }: Pick<EventRow, 'projectId' | 'name'>): string {
  return `${projectId} ${name}`
}

/**
 * Returns the first events that together start at most `MAX_STARTS` executions, but at least one
 * event.
 */
function withinStarts(
  events: readonly UrgentEvent[],
  triggered: TriggeredByName,
): readonly UrgentEvent[] {
  let starts = 0
  const end = events.findIndex((event, index) => {
    starts += triggered.get(nameOf(event))?.length ?? 0
    return index > 0 && starts > MAX_STARTS
  })
  return end === -1 ? events : events.slice(0, end)
}

/** Finds the waits that events end, each with the first event that ends it. */
async function findEnded(tx: Tx, events: readonly UrgentEvent[]): Promise<EndedWait[]> {
  const received = events.filter(({ name }) => name === RECEIVED)
  const automatic =
    received.length === 0 ? [] : await tx.list(listAutomatic, { seqs: seqsOf(received) })
  const isAutomatic = new Set(automatic.map(({ seq }) => seq))
  const list = events.map(({ seq, contactId, name, emailId }) => {
    return [seq, contactId, name, emailId, isAutomatic.has(seq) ? 1 : 0]
  })
  return tx.list(listEnded, { events: JSON.stringify(list) })
}

async function endWaits(
  { workflowNotifier }: TriggerDeps,
  tx: Tx,
  ended: readonly EndedWait[],
): Promise<void> {
  if (ended.length === 0) return
  const numbers = ended.map(({ executionNumber }) => executionNumber)
  const pairs = ended.map(({ executionNumber, seq }) => [executionNumber, seq])
  await tx.execute(endAll, { ended: JSON.stringify(pairs) })
  await tx.execute(wakeAll, { numbers: JSON.stringify(numbers) })
  tx.afterCommit(() => {
    for (const { workflowId, projectId } of ended)
      workflowNotifier.notify({ kind: 'due', workflowId, projectId, dueAt: DUE_AT_ONCE })
  })
}

async function startTriggered(
  deps: TriggerDeps,
  tx: Tx,
  { events, triggered }: { events: readonly OfContact<UrgentEvent>[]; triggered: TriggeredByName },
): Promise<void> {
  const starting = await withData(
    tx,
    events.filter((event) => triggered.has(nameOf(event))),
  )
  if (starting.length === 0) return
  const contextOf = await readEventContexts(tx, starting)
  const depthOf = await readEventDepths(tx, starting)
  const wanted: WantedExecution[] = []
  for (const event of starting) {
    for (const workflow of triggered.get(nameOf(event)) ?? []) {
      if (event.seq <= workflow.enabledSeq) continue
      if (isAutomaticEvent(event) && workflow.includeAutomatic !== 1) {
        await addFigures(tx, workflow.id, [['', 'automatic', 1]])
        continue
      }
      const facts = { event, context: contextOf(event), depth: depthOf(event), at: deps.now() }
      wanted.push(toWanted(workflow, facts))
    }
  }
  const outcomes = await startExecutions(deps, tx, wanted)
  const refused = outcomes.filter(({ kind }) => kind === 'too deep').length
  if (refused === 0) return
  tx.afterCommit(() => deps.counters.add('pillarbox_chain_starts_refused_total', {}, refused))
}

/** Returns the events with their data, except those whose contact is gone. */
async function withData(
  tx: Tx,
  events: readonly OfContact<UrgentEvent>[],
): Promise<ContactEvent[]> {
  if (events.length === 0) return []
  const found = await tx.list(listData, { seqs: seqsOf(events) })
  const dataOf = new Map(found.map(({ seq, data }) => [seq, data]))
  return events.flatMap((event) => {
    const text = dataOf.get(event.seq)
    if (text === undefined) return []
    const data = text === null ? null : (parseJsonText(text) as EventRow['data'])
    return [{ ...event, data }]
  })
}

function seqsOf(events: readonly UrgentEvent[]): string {
  return JSON.stringify(events.map(({ seq }) => seq))
}

function toWanted(
  { allowsReentry, ...workflow }: Triggered,
  facts: { event: ContactEvent; context: Record<string, unknown>; depth: number; at: number },
): WantedExecution {
  const { event, context, depth, at } = facts
  const { contactId, id, seq } = event
  return {
    workflow: { ...workflow, allowsReentry: allowsReentry === 1 },
    start: {
      contactId,
      context: Object.keys(context).length === 0 ? null : context,
      source: { id, seq },
      depth,
      at,
    },
  }
}
