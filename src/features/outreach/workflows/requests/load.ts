/**
 * Reads the due requests of WEBHOOK steps, and the data that each is made from. Requests that were
 * never tried alternate with those to be tried again.
 *
 * The executions up to `cancelled_through` are cancelled, though their rows may not say so yet.
 * Until all of these rows do, only requests that were never tried are read, because the index finds
 * them behind those rows; requests to be tried again wait for the loop that writes the rows.
 *
 * The requests of executions that a fence holds are passed over: those to be tried again get the
 * due time of requests that were never tried, because among these the index finds the ones behind
 * the fence.
 */
import { SECOND_MS } from '../../../../base/clock.ts'
import { octets } from '../../../../store/dialect.ts'
import { eq, type SQL, sql } from '../../../../store/drizzle.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import { contacts } from '../../../../store/schema/contacts.ts'
import {
  workflowExecutions,
  workflowRequests,
  workflowSteps,
  workflows,
} from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { type SweepPace, sweep } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { findFence } from '../../../ground/fence/rows.ts'
import {
  inTurn,
  type RequestTask,
  type TakenTasks,
  type TakeQuery,
  type TaskKey,
} from '../../webhooks/dispatch/tasks.ts'
import type { WebhookConfig, WebhookMethod } from '../graph/step-config.ts'

/** The data that a request is made from. */
export type LoadedRequest = NonNullable<Awaited<ReturnType<typeof findWorkflowRequest>>>

type Deps = Pick<Base, 'store'>
type DueRequest = Pick<RequestTask, 'number' | 'sentBytes'>

/** The memory of a task, which is only a number: its request is read when it is made. */
const TASK_BYTES = 512
/** At most this many fenced requests are passed over in one transaction. */
const MAX_PASSED = 500
const PASSING: SweepPace = { rows: MAX_PASSED, rest: 'none' }
/** How often the dispatcher looks whether the rows of cancelled executions are written. */
const CANCELLING_MS = SECOND_MS

const size = (text: SQL) => sql`coalesce(${octets(text)}, 0)`

/**
 * Selects requests. The size of a request that is not rendered yet is that of the data that it is
 * made from.
 */
const selectRequests = sql`select request.execution_number as number,
    coalesce(${octets(sql`request.request`)}, ${size(sql`step.config`)}
      + ${size(sql`execution.context`)} + ${size(sql`contacts.data`)}) as "sentBytes"
  from workflow_requests as request
  left join workflow_steps as step on step.id = request.step_id
  left join workflow_executions as execution on execution.number = request.execution_number
  left join contacts on contacts.id = execution.contact_id
  where request.workflow_id = ${parameter('id')}`

export const listFirstRequests = statement<DueRequest>(
  () => sql`${selectRequests} and request.due_at = 0
      and request.execution_number > ${parameter('after')}
    order by request.execution_number limit ${parameter('limit')}`,
)

export const listRequestRetries = statement<DueRequest>(
  () => sql`${selectRequests} and request.due_at > 0 and request.due_at <= ${parameter('now')}
      and request.execution_number > ${parameter('after')}
    order by request.due_at, request.execution_number limit ${parameter('limit')}`,
)

export const findNextDueRequest = statement<{ dueAt: number | null }>(
  () => sql`select min(due_at) as "dueAt" from workflow_requests
    where workflow_id = ${parameter('id')} and due_at > ${parameter('now')}`,
)

const isFencedDue = sql`workflow_id = ${parameter('id')} and due_at > 0 and due_at <= ${parameter('now')}
  and execution_number <= ${parameter('after')}`

const findFenced = statement<{ found: number }>(
  () => sql`select 1 as found from workflow_requests where ${isFencedDue} limit 1`,
)

const passOver = statement(
  () => sql`update workflow_requests set due_at = 0 where execution_number in (
    select execution_number from workflow_requests where ${isFencedDue} limit ${MAX_PASSED})`,
)

const findCancelled = statement((db) =>
  db
    .select({ cancelledThrough: workflows.cancelledThrough })
    .from(workflows)
    .where(eq(workflows.id, parameter('id'))),
)

const findRequest = statement((db) =>
  db
    .select({
      row: {
        number: workflowRequests.executionNumber,
        projectId: workflowRequests.projectId,
        workflowId: workflowRequests.workflowId,
        stepExecutionId: workflowRequests.stepExecutionId,
        ordinal: workflowRequests.ordinal,
        attempts: workflowRequests.attempts,
        request: workflowRequests.request,
      },
      config: workflowSteps.config,
      workflow: { id: workflows.id, name: workflows.name },
      execution: {
        id: workflowExecutions.id,
        startedAt: workflowExecutions.startedAt,
        context: workflowExecutions.context,
      },
      contact: {
        id: contacts.id,
        address: contacts.address,
        subscribed: contacts.subscribed,
        data: contacts.data,
      },
      isProjectDisabled: projects.isDisabled,
      postalAddress: projects.postalAddress,
    })
    .from(workflowRequests)
    .innerJoin(workflows, eq(workflows.id, workflowRequests.workflowId))
    .innerJoin(workflowSteps, eq(workflowSteps.id, workflowRequests.stepId))
    .innerJoin(workflowExecutions, eq(workflowExecutions.number, workflowRequests.executionNumber))
    .innerJoin(contacts, eq(contacts.id, workflowExecutions.contactId))
    .innerJoin(projects, eq(projects.id, workflowRequests.projectId))
    .where(
      sql`${workflowRequests.executionNumber} = ${parameter('number')}
        and ${workflowRequests.executionNumber} > ${workflows.cancelledThrough}`,
    ),
)

export async function takeRequests(
  { store }: Deps,
  { id, projectId }: TaskKey,
  { taken, limit, now }: TakeQuery,
): Promise<TakenTasks<RequestTask>> {
  const cancelledThrough = (await store.read.find(findCancelled, { id }))?.cancelledThrough ?? 0
  const fencedThrough = (await findFence(store.read, projectId))?.executionNumber ?? 0
  const isCancelling = cancelledThrough > 0
  if (fencedThrough > 0) await passOverFenced(store, { id, now, after: fencedThrough })
  const after = Math.max(cancelledThrough, fencedThrough)
  const query = { id, after, limit: limit + taken.size + 1 }
  const isFree = ({ number }: DueRequest) => !taken.has(number)
  const first = await store.read.list(listFirstRequests, query)
  const retries = isCancelling ? [] : await store.read.list(listRequestRetries, { ...query, now })
  const due = inTurn(first.filter(isFree), retries.filter(isFree))
  const tasks = due.slice(0, limit).map((task) => ({ ...task, bytes: TASK_BYTES }))
  if (tasks.length < due.length) return { tasks, nextDueAt: now }
  if (isCancelling) return { tasks, nextDueAt: now + CANCELLING_MS }
  const next = await store.read.find(findNextDueRequest, { id, now })
  return { tasks, nextDueAt: next?.dueAt ?? null }
}

/** Passes over fenced requests until none of them is due any more in front of the others. */
async function passOverFenced(
  store: Deps['store'],
  fence: { id: string; now: number; after: number },
): Promise<void> {
  const until = async () => (await store.read.find(findFenced, fence)) === undefined
  const rules = { pace: PASSING, heavyFor: undefined, until }
  await sweep({ store }, rules, (tx) => tx.execute(passOver, fence))
}

/** Reads a request. Returns undefined if the request is gone, or if its execution is fenced. */
export async function findWorkflowRequest({ store }: Deps, number: number) {
  const found = await store.read.find(findRequest, { number })
  if (found === undefined) return undefined
  const { row, config, ...rest } = found
  const fence = await findFence(store.read, row.projectId)
  if (fence !== undefined && number <= fence.executionNumber) return undefined
  return {
    ...rest,
    ...row,
    config: config as unknown as WebhookConfig,
    request: row.request as StepHttpRequest | null,
  }
}

/**
 * The HTTP message as it is stored before the first attempt; each attempt sends the same message.
 */
export type StepHttpRequest = {
  url: string
  method: WebhookMethod
  headers: Record<string, string>
  body: string | null
}
