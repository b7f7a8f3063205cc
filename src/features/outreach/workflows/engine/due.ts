/** The executions of a workflow that are due, with their contacts and the rows of their steps. */

import { parseJsonText } from '../../../../base/json-text.ts'
import { indexedBy, orderedJoin, unseen } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { ContactData } from '../../../../store/schema/json-values.ts'
import type { ExecutionStatus, StepExecutionStatus } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { TurnKey } from '../notifier.ts'
import type { DueExecution, OpenStep } from './walk.ts'

/** JSON columns as text. */
type DueExecutionRow = {
  number: number
  id: string
  contactId: string
  status: ExecutionStatus
  currentStepId: string | null
  context: string | null
  sourceEventSeq: number | null
  stepsDone: number
  startedAt: number
  dueAt: number
  depth: number
  address: string
  subscribed: number
  data: string | null
  contactCreatedAt: number
  contactUpdatedAt: number
  stepExecutionId: string | null
  stepStatus: StepExecutionStatus
  scheduledFor: number | null
  executeAfter: number | null
  input: string | null
  output: string | null
  error: string | null
  stepStartedAt: number
}

const select = sql`select execution.number, execution.id, execution.contact_id as "contactId",
      execution.status, execution.current_step_id as "currentStepId", execution.context,
      execution.source_event_seq as "sourceEventSeq", execution.steps_done as "stepsDone", execution.started_at as "startedAt",
      execution.due_at as "dueAt", execution.depth,
      contacts.email as address, contacts.subscribed, contacts.data,
      contacts.created_at as "contactCreatedAt", contacts.updated_at as "contactUpdatedAt",
      step.id as "stepExecutionId", step.status as "stepStatus",
      step.scheduled_for as "scheduledFor", step.execute_after as "executeAfter", step.input,
      step.output, step.error, step.started_at as "stepStartedAt"
    from workflow_executions as execution ${indexedBy('workflow_executions_due')}
    ${orderedJoin()} contacts on contacts.id = execution.contact_id
    left join workflow_step_executions as step on step.execution_number = execution.number
      and step.ordinal = execution.steps_done
    where execution.workflow_id = ${unseen(parameter('workflowId'))}`

/**
 * Lists executions that are due at once, because they start or their wait was ended, in the order
 * of their starts.
 */
const listNow = statement<DueExecutionRow>(
  () => sql`${select} and execution.due_at = 0 and execution.number > ${parameter('after')}
    order by execution.number limit ${unseen(parameter('limit'))}`,
)

/** Lists executions whose sleep is over, in the order of their due times. */
const listTimed = statement<DueExecutionRow>(
  () => sql`${select} and execution.due_at > 0 and execution.due_at <= ${parameter('now')}
      and execution.number > ${parameter('after')}
    order by execution.due_at limit ${unseen(parameter('limit'))}`,
)

const findEarliest = statement<{ dueAt: number | null }>(
  () => sql`select case
      when exists (select 1 from workflow_executions ${indexedBy('workflow_executions_due')}
        where workflow_id = ${unseen(parameter('workflowId'))} and due_at = 0
          and number > ${parameter('after')}) then 0
      else (select min(due_at) from workflow_executions ${indexedBy('workflow_executions_due')}
        where workflow_id = ${unseen(parameter('workflowId'))} and due_at > 0)
    end as "dueAt"`,
)

/**
 * Gives fenced executions the due time 0. Turns read executions with this due time only behind the
 * fence, so they no longer meet these.
 */
const passOver = statement(
  () => sql`update workflow_executions set due_at = 0 where number in (
    select number from workflow_executions ${indexedBy('workflow_executions_due')}
    where workflow_id = ${parameter('workflowId')} and due_at > 0
      and due_at <= ${parameter('now')} and number <= ${parameter('after')}
    limit ${parameter('limit')})`,
)

/**
 * Lists the workflows that have due times. The query seeks from workflow to workflow in the index,
 * so it does not read every execution.
 */
const listWorkflows = statement<TurnKey & { dueAt: number }>(
  () => sql`with recursive found (id) as (
      select min(workflow_id) from workflow_executions ${indexedBy('workflow_executions_due')}
        where due_at is not null
      union all
      select (select min(workflow_id) from workflow_executions
          ${indexedBy('workflow_executions_due')}
        where due_at is not null and workflow_id > found.id)
      from found where found.id is not null
    )
    select found.id as "workflowId", workflows.project_id as "projectId",
      (select min(due_at) from workflow_executions ${indexedBy('workflow_executions_due')}
        where workflow_id = found.id and due_at is not null) as "dueAt"
    from found join workflows on workflows.id = found.id`,
)

type Queries = Pick<Tx, 'find' | 'list'>

type Due = {
  now: number
  limit: number
  /** Executions up to this number are fenced; 0 without a fence. */
  after: number
}

/** Passes over at most `limit` fenced executions that are due. */
export async function passOverFenced(tx: Tx, key: TurnKey, due: Due): Promise<void> {
  if (due.after > 0) await tx.execute(passOver, { workflowId: key.workflowId, ...due })
}

/**
 * Lists at most `limit` due executions. Executions that are due at once alternate with those that
 * have slept, so that neither kind waits for all of the other.
 */
export async function listDueExecutions(
  queries: Queries,
  { workflowId, projectId }: TurnKey,
  { now, limit, after }: Due,
): Promise<DueExecution[]> {
  const atOnce = await queries.list(listNow, { workflowId, limit, after })
  const timed = await queries.list(listTimed, { workflowId, now, limit, after })
  return inTurn(atOnce, timed, limit).map((row) => toExecution(row, projectId))
}

/**
 * Returns when the earliest execution of a workflow behind the number `after` is due; undefined if
 * none will be. Fenced executions that sleep count too, so that they are passed over when they are
 * due.
 */
export async function findEarliestDue(
  queries: Queries,
  { workflowId, after }: { workflowId: string; after: number },
): Promise<number | undefined> {
  return (await queries.find(findEarliest, { workflowId, after }))?.dueAt ?? undefined
}

/** Lists all workflows with executions that are or will be due. */
export function listDueWorkflows(queries: Queries): Promise<(TurnKey & { dueAt: number })[]> {
  return queries.list(listWorkflows)
}

function inTurn<T>(one: readonly T[], other: readonly T[], limit: number): T[] {
  if (one.length === 0 || other.length === 0) return [...one, ...other]
  const half = Math.ceil(limit / 2)
  const ofOne = Math.min(one.length, Math.max(half, limit - other.length))
  return [...one.slice(0, ofOne), ...other.slice(0, limit - ofOne)]
}

function toExecution(row: DueExecutionRow, projectId: string): DueExecution {
  const { number, id, contactId, status, currentStepId, sourceEventSeq, stepsDone } = row
  const { depth, dueAt } = row
  return {
    ...{ number, id, contactId, status, currentStepId, sourceEventSeq, stepsDone, depth, dueAt },
    startedAt: row.startedAt,
    context: parse<Record<string, unknown>>(row.context),
    contact: {
      id: contactId,
      projectId,
      address: row.address,
      subscribed: row.subscribed === 1,
      data: parse<ContactData>(row.data),
      createdAt: row.contactCreatedAt,
      updatedAt: row.contactUpdatedAt,
    },
    step: row.stepExecutionId === null ? null : toOpenStep(row, row.stepExecutionId),
  }
}

function toOpenStep(row: DueExecutionRow, id: string): OpenStep {
  const { scheduledFor, executeAfter, error } = row
  return {
    id,
    status: row.stepStatus,
    ...{ scheduledFor, executeAfter, error },
    input: parse(row.input),
    output: parse(row.output),
    startedAt: row.stepStartedAt,
  }
}

function parse<T>(text: string | null): T | null {
  return text === null ? null : (parseJsonText(text) as T)
}
