/**
 * Lists the active executions of workflows for `GET /activity/upcoming`, except those that are
 * listed as a scheduled email. The executions at each step are read in the order of their due
 * times, and no further than the page needs. Executions that only an event or a webhook wakes have
 * no time; they come last, the oldest first.
 */
import { formatInstant, formatOptionalInstant } from '../../../base/clock.ts'
import type { ActivityRecord } from '../../../records/activity.ts'
import { eachOf, indexedBy, jsonItem, orderedJoin } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { ExecutionStatus, StepType } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { findMailDelays } from './scheduled-workflow-emails.ts'
import type { UpcomingQuery, UpcomingSource } from './upcoming-source.ts'

/** A place where executions are: at a step or, if `stepId` is null, before the first step. */
type StepPlace = { workflowId: string; stepId: string | null; cancelledThrough: number }

type ActiveRow = {
  number: number
  executionId: string
  status: ExecutionStatus
  contactId: string
  contactEmail: string
  workflowId: string
  workflowName: string
  stepId: string | null
  stepName: string | null
  stepType: StepType | null
  dueAt: number | null
  updatedAt: number
}

/** Places that one statement reads. */
const PLACES = 500

const listPlaces = statement<StepPlace>(
  () => sql`select workflows.id as "workflowId", steps.id as "stepId",
      cancelled_through as "cancelledThrough"
    from workflows join workflow_steps as steps on steps.workflow_id = workflows.id
    where workflows.project_id = ${parameter('projectId')} and workflows.deleted_at is null
    union all select id, null, cancelled_through from workflows
    where project_id = ${parameter('projectId')} and deleted_at is null`,
)

function listAt(isDue: SQL, order: SQL) {
  const place = sql`place.value`
  return statement<ActiveRow>(
    () => sql`select active.number, active.id as "executionId", active.status,
        contacts.id as "contactId", contacts.email as "contactEmail",
        workflows.id as "workflowId", workflows.name as "workflowName",
        steps.id as "stepId", steps.name as "stepName", steps.type as "stepType",
        active.due_at as "dueAt", active.updated_at as "updatedAt"
      from (select execution.* from ${eachOf(parameter('places'))} as place
        ${orderedJoin()} workflow_executions as execution on execution.number in (
          select number from workflow_executions ${indexedBy('workflow_executions_place')}
          where workflow_id = ${jsonItem(place, 0)} and current_step_id is ${jsonItem(place, 1)}
            and ${isDue} and status in ('RUNNING', 'WAITING') and number > ${jsonItem(place, 2)}
          order by ${order} limit ${parameter('limit')})
        order by ${order} limit ${parameter('limit')}) as active
      join contacts on contacts.id = active.contact_id
      join workflows on workflows.id = active.workflow_id
      left join workflow_steps as steps on steps.id = active.current_step_id
      order by active.due_at, active.number`,
  )
}

export const listUpcomingExecutions = listAt(
  sql`due_at <= ${parameter('until')}`,
  sql`due_at, number`,
)
export const listUndatedExecutions = listAt(sql`due_at is null`, sql`number`)

export const listActiveExecutions: UpcomingSource = async (deps, query) => {
  const { projectId, from, until, limit } = query
  const { scan } = deps.store
  const places = await scan.list(listPlaces, { projectId })
  const mailDelays = await findMailDelays(deps, projectId)
  const [asleep, others] = partition(places, ({ stepId }) => mailDelays.has(stepId ?? ''))
  const due = [
    ...(await listSoonest(deps, { ...query, places: others, until })),
    // Executions that sleep before an email, and are due later, are listed as scheduled emails.
    ...(await listSoonest(deps, { ...query, places: asleep, until: Math.min(from, until) })),
  ]
  const dated = due.toSorted(soonestFirst).slice(0, limit)
  const undated: ActiveRow[] = []
  for (let at = 0; at < others.length && dated.length < limit; at += PLACES) {
    const values = { places: toJson(others.slice(at, at + PLACES)), limit: limit - dated.length }
    undated.push(...(await scan.list(listUndatedExecutions, values)))
  }
  const oldest = undated.toSorted((one, other) => one.number - other.number)
  return [...dated, ...oldest].slice(0, limit).map(toActivity)
}

type AskedUpcoming = Pick<UpcomingQuery, 'until' | 'limit'> & { places: readonly StepPlace[] }

async function listSoonest(
  { store }: Parameters<UpcomingSource>[0],
  { places, until, limit }: AskedUpcoming,
): Promise<ActiveRow[]> {
  let soonest: ActiveRow[] = []
  for (let at = 0; at < places.length; at += PLACES) {
    const last = soonest.length < limit ? undefined : soonest.at(-1)
    const values = { places: toJson(places.slice(at, at + PLACES)), limit }
    const rows = await store.scan.list(listUpcomingExecutions, {
      ...values,
      until: last?.dueAt ?? until,
    })
    soonest = [...soonest, ...rows].toSorted(soonestFirst).slice(0, limit)
  }
  return soonest
}

function toJson(places: readonly StepPlace[]): string {
  return JSON.stringify(
    places.map(({ workflowId, stepId, cancelledThrough }) => [
      workflowId,
      stepId,
      cancelledThrough,
    ]),
  )
}

function partition<Item>(items: readonly Item[], isMeant: (item: Item) => boolean) {
  return [items.filter(isMeant), items.filter((item) => !isMeant(item))] as const
}

function soonestFirst(one: ActiveRow, other: ActiveRow): number {
  return (one.dueAt ?? 0) - (other.dueAt ?? 0) || one.number - other.number
}

function toActivity(row: ActiveRow): ActivityRecord {
  const { executionId, status, workflowId, workflowName, stepId, stepName, stepType } = row
  return {
    id: `workflow_execution_${executionId}_active`,
    type: 'workflow.execution.active',
    timestamp: formatInstant(row.dueAt ?? row.updatedAt),
    contactEmail: row.contactEmail,
    contactId: row.contactId,
    metadata: {
      ...{ workflowId, workflowName, executionId, status, stepId, stepName, stepType },
      dueAt: formatOptionalInstant(row.dueAt),
    },
  }
}
