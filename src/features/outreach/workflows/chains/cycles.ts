/**
 * Finds the events that the executions of each workflow make, and from these the cycles of
 * workflows that start each other. Executions make events by beginning and ending, by the mail that
 * they send, by the contacts that they change, and by the segments that contacts enter or leave
 * because of such a change.
 */
import { and, eq, inArray, isNull } from '../../../../store/drizzle.ts'
import { type Segment, segments } from '../../../../store/schema/segments.ts'
import { workflowSteps, workflows } from '../../../../store/schema/workflows.ts'
import type { Queries } from '../../../../store/write/transaction.ts'
import {
  type Condition,
  type ConditionReferences,
  listReferences,
} from '../../../ground/conditions/condition.ts'
import { MAIL_EVENTS } from '../../../ground/events/reserved.ts'
import { segmentEvent } from '../../../people/segments/membership-events.ts'
import type { UpdateContactConfig } from '../graph/step-config.ts'

type EventMaker = {
  id: string
  name: string
  /** The stored name of the event that starts the workflow; null if no event does. */
  triggerEvent: string | null
  /** The stored names of the events that the executions make. */
  makes: ReadonlySet<string>
}

/**
 * The effects of a workflow's steps: the data keys and the columns of contacts that they change,
 * and the events that they make.
 */
type Changes = { keys: Set<string>; columns: Set<string>; events: Set<string> }
type AskingSegment = Pick<Segment, 'id' | 'name' | 'hasMembershipEvents'> & {
  asks: ConditionReferences
}

const OF_EXECUTIONS = ['workflow.started', 'workflow.completed']

const OF_ACTION = {
  none: [],
  subscribe: ['contact.subscribed'],
  unsubscribe: ['contact.unsubscribed'],
} as const

/** Returns the workflows of the project with the events that they make, oldest first. */
export async function loadMakers(queries: Queries, projectId: string): Promise<EventMaker[]> {
  const { id, name, triggerEvent } = workflows
  const rows = await queries
    .select({ id, name, triggerEvent })
    .from(workflows)
    .where(and(eq(workflows.projectId, projectId), isNull(workflows.deletedAt)))
    .orderBy(workflows.createdAt, workflows.id)
  const changes = await loadChanges(queries, projectId)
  const asking = await loadSegments(queries, projectId)
  return rows.map((row) => ({ ...row, makes: withSegments(changes.get(row.id), asking) }))
}

async function loadChanges(queries: Queries, projectId: string): Promise<Map<string, Changes>> {
  const { workflowId, type, config } = workflowSteps
  const steps = await queries
    .select({ workflowId, type, config })
    .from(workflowSteps)
    .where(
      and(
        eq(workflowSteps.projectId, projectId),
        inArray(type, ['SEND_EMAIL', 'UPDATE_CONTACT']),
        isNull(workflowSteps.removedAt),
      ),
    )
    .groupBy(workflowId, type, config)
  const all = new Map<string, Changes>()
  for (const step of steps) {
    const own = all.get(step.workflowId) ?? noChanges()
    all.set(step.workflowId, own)
    // Clicks and complaints count too: people cause them, but they start workflows like other
    // events.
    if (step.type === 'SEND_EMAIL') for (const name of MAIL_EVENTS) own.events.add(name)
    else addUpdate(own, step.config as UpdateContactConfig)
  }
  return all
}

function noChanges(): Changes {
  return { keys: new Set(), columns: new Set(), events: new Set(OF_EXECUTIONS) }
}

function addUpdate(
  { keys, columns, events }: Changes,
  { updates = {}, subscriptionAction = 'none' }: UpdateContactConfig,
): void {
  for (const key of Object.keys(updates)) keys.add(key)
  columns.add('updatedAt')
  for (const name of OF_ACTION[subscriptionAction]) events.add(name)
  if (subscriptionAction !== 'none') columns.add('subscribed')
}

async function loadSegments(queries: Queries, projectId: string): Promise<AskingSegment[]> {
  const { id, name, hasMembershipEvents, condition } = segments
  const rows = await queries
    .select({ id, name, hasMembershipEvents, condition })
    .from(segments)
    .where(and(eq(segments.projectId, projectId), eq(segments.type, 'DYNAMIC')))
  return rows.map(({ condition: stored, ...row }) => {
    const isReadable = typeof stored === 'object' && stored !== null
    const asks = listReferences((isReadable ? stored : { groups: [] }) as Condition)
    return { ...row, asks }
  })
}

/**
 * Returns the events with those of segments: of segments whose condition asks for something that
 * changes, and of segments that ask for such segments.
 */
function withSegments(
  { keys, columns, events }: Changes = noChanges(),
  asking: readonly AskingSegment[],
): Set<string> {
  const makes = new Set(events)
  const moved = new Set<string>()
  for (let isDone = false; !isDone; ) {
    isDone = true
    for (const { asks, ...segment } of asking) {
      const isMoved =
        asks.keys.some((key) => keys.has(key)) ||
        asks.columns.some((column) => columns.has(column)) ||
        asks.events.some((name) => makes.has(name)) ||
        asks.segments.some((id) => moved.has(id))
      if (!isMoved || moved.has(segment.id)) continue
      moved.add(segment.id)
      isDone = false
      if (!segment.hasMembershipEvents) continue
      makes.add(segmentEvent(segment, 'entry'))
      makes.add(segmentEvent(segment, 'exit'))
    }
  }
  return makes
}

/**
 * A workflow of a cycle. `event`: starts the next workflow; the event of the last workflow starts
 * the first.
 */
type Link = { name: string; event: string }
export type WorkflowCycle = readonly Link[]

/** At most this many cycles are reported: more would not help an author. */
const MAX_CYCLES = 10

/**
 * Returns the shortest cycles through the workflow: one for each workflow that it starts, which may
 * be the workflow itself.
 */
export function findCycles(makers: readonly EventMaker[], id: string): WorkflowCycle[] {
  const first = makers.find((maker) => maker.id === id)
  if (first === undefined) return []
  const next = findWaysTo(makers, first)
  const { triggerEvent } = first
  const own: WorkflowCycle[] =
    triggerEvent !== null && first.makes.has(triggerEvent)
      ? [[{ name: first.name, event: triggerEvent }]]
      : []
  const others = makers.filter(
    (maker) => maker !== first && next.has(maker) && starts(first, maker),
  )
  return [...own, ...others.map((maker) => cycleFrom({ first, second: maker, next }))].slice(
    0,
    MAX_CYCLES,
  )
}

/**
 * Returns, for each workflow from which a way leads to `goal`, the next one on the shortest way.
 */
function findWaysTo(makers: readonly EventMaker[], goal: EventMaker): Map<EventMaker, EventMaker> {
  const next = new Map<EventMaker, EventMaker>()
  const reached = [goal]
  // The loop also visits the workflows that it adds.
  for (const to of reached) {
    for (const from of makers) {
      if (from === goal || next.has(from) || !starts(from, to)) continue
      next.set(from, to)
      reached.push(from)
    }
  }
  return next
}

function cycleFrom({
  first,
  second,
  next,
}: {
  first: EventMaker
  second: EventMaker
  next: ReadonlyMap<EventMaker, EventMaker>
}): WorkflowCycle {
  const members = [first]
  for (
    let at: EventMaker | undefined = second;
    at !== undefined && at !== first;
    at = next.get(at)
  ) {
    members.push(at)
  }
  return members.map(({ name }, index) => {
    const { triggerEvent } = members[index + 1] ?? first
    return { name, event: triggerEvent ?? '' }
  })
}

function starts({ makes }: EventMaker, { triggerEvent }: EventMaker): boolean {
  return triggerEvent !== null && makes.has(triggerEvent)
}
