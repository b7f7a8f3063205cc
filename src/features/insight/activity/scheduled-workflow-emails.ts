/**
 * Lists the scheduled emails of workflows for `GET /activity/upcoming`: executions that sleep in a
 * DELAY whose next step sends a template. The executions at each DELAY are read in the order in
 * which they wake, and no further than the page needs, so that a million sleeping executions cost
 * little.
 */
import { formatInstant } from '../../../base/clock.ts'
import type { ActivityRecord } from '../../../records/activity.ts'
import { eachOf, indexedBy, orderedJoin } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import type { UpcomingQuery, UpcomingSource } from './upcoming-source.ts'

/** A DELAY and the step after it. `subject`: the subject of the template that this step sends. */
type Edge = {
  workflowId: string
  workflowName: string
  cancelledThrough: number
  delayId: string
  nextId: string
  nextName: string
  nextType: string
  subject: string | null
}

type SleepingRow = {
  delayId: string
  stepExecutionId: string
  contactId: string
  contactEmail: string
  dueAt: number
}

type Sleeping = { row: SleepingRow; edge: Edge }

/** Lists transitions in the order in which the engine tries them (`workflows/graph/graph.ts`). */
const listEdges = statement<Edge>(
  () => sql`select workflows.id as "workflowId", workflows.name as "workflowName",
      workflows.cancelled_through as "cancelledThrough", waits.id as "delayId",
      next.id as "nextId", next.name as "nextName", next.type as "nextType",
      templates.subject as subject
    from workflow_steps as waits
    join workflows on workflows.id = waits.workflow_id
    join workflow_transitions as moves on moves.from_step_id = waits.id
    join workflow_steps as next on next.id = moves.to_step_id
    left join templates on templates.id = next.template_id
    where waits.project_id = ${parameter('projectId')} and waits.type = 'DELAY'
      and waits.removed_at is null and next.removed_at is null
      and moves.condition is null and moves.wait_outcome is null
    order by workflows.created_at, waits.id, moves.priority, moves.created_at`,
)

/**
 * Reads, for each DELAY, as many index entries as it lists executions, and the entries of cancelled
 * executions.
 */
export const listSleeping = statement<SleepingRow>(
  () => sql`select sleeping.current_step_id as "delayId", steps.id as "stepExecutionId",
      contacts.id as "contactId", contacts.email as "contactEmail", sleeping.due_at as "dueAt"
    from (select execution.number, contact_id, current_step_id, steps_done, due_at
      from ${eachOf(parameter('delayIds'))} as delay
      ${orderedJoin()} workflow_executions as execution on execution.number in (
        select number from workflow_executions ${indexedBy('workflow_executions_place')}
        where workflow_id = ${parameter('workflowId')} and current_step_id = delay.value
          and due_at > ${parameter('from')} and due_at <= ${parameter('until')}
          and status in ('RUNNING', 'WAITING') and status = 'WAITING'
          and number > ${parameter('cancelledThrough')}
        order by due_at limit ${parameter('limit')})
      order by due_at limit ${parameter('limit')}) as sleeping
    join contacts on contacts.id = sleeping.contact_id
    join workflow_step_executions as steps
      on steps.execution_number = sleeping.number and steps.ordinal = sleeping.steps_done
    order by sleeping.due_at, steps.id`,
)

export const listUpcomingWorkflowEmails: UpcomingSource = async ({ store }, query) => {
  const edges = await store.scan.list(listEdges, { projectId: query.projectId })
  let soonest: Sleeping[] = []
  for (const sending of sendingByWorkflow(edges).values()) {
    const rows = await store.scan.list(listSleeping, toValues(query, { sending, soonest }))
    const found = rows.flatMap((row) => {
      const edge = sending.find(({ delayId }) => delayId === row.delayId)
      return edge === undefined ? [] : [{ row, edge }]
    })
    soonest = [...soonest, ...found].toSorted(soonestFirst).slice(0, query.limit)
  }
  return soonest.map(toActivity)
}

/** Returns the ids of the DELAY steps after which an email is sent. */
export async function findMailDelays(
  { store }: Pick<Base, 'store'>,
  projectId: string,
): Promise<Set<string>> {
  const edges = await store.scan.list(listEdges, { projectId })
  return new Set(sendingOf(edges).map(({ delayId }) => delayId))
}

function sendingByWorkflow(edges: readonly Edge[]): Map<string, Edge[]> {
  return Map.groupBy(sendingOf(edges), ({ workflowId }) => workflowId)
}

/**
 * Returns the delays after which an email is sent. Of several transitions from a step, the first
 * counts.
 */
function sendingOf(edges: readonly Edge[]): Edge[] {
  const first = new Map(edges.toReversed().map((edge) => [edge.delayId, edge]))
  return [...first.values()].filter(
    ({ nextType, subject }) => nextType === 'SEND_EMAIL' && subject !== null,
  )
}

function toValues(
  { from, until, limit }: UpcomingQuery,
  { sending, soonest }: { sending: readonly Edge[]; soonest: readonly Sleeping[] },
) {
  const [{ workflowId = '', cancelledThrough = 0 } = {}] = sending
  const delayIds = JSON.stringify(sending.map(({ delayId }) => delayId))
  const last = soonest.length < limit ? undefined : soonest.at(-1)
  const end = last?.row.dueAt ?? until
  return { workflowId, cancelledThrough, delayIds, from, until: end, limit }
}

function soonestFirst({ row: one }: Sleeping, { row: other }: Sleeping): number {
  return one.dueAt - other.dueAt || (one.stepExecutionId < other.stepExecutionId ? -1 : 1)
}

function toActivity({ row, edge }: Sleeping): ActivityRecord {
  return {
    id: `workflow_step_${row.stepExecutionId}_scheduled`,
    type: 'workflow.email.scheduled',
    timestamp: formatInstant(row.dueAt),
    contactEmail: row.contactEmail,
    contactId: row.contactId,
    metadata: {
      workflowId: edge.workflowId,
      workflowName: edge.workflowName,
      stepId: edge.nextId,
      stepName: edge.nextName,
      subject: edge.subject,
    },
  }
}
