/**
 * Starts executions: the one verb of events, requests, bulk starts and schedules. It applies the rules
 * of re-entry (contract 5.3) and the limit of starts, and does nothing that can fail for one contact.
 *
 *   allowReentry false   any earlier execution of the contact holds the start back
 *   allowReentry true    an active one does
 *   over 100 an hour     one CANCELLED execution "too many starts" an hour; the others are counted
 */
import { HOUR_MS } from '../../../clock.ts'
import { sql } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import type { ExecutionStatus } from '../../../store/schema/words.ts'
import type { Workflow } from '../../../store/schema/workflows.ts'
import { workflowExecutions } from '../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { appendEvent } from '../../events/append.ts'
import { addFigures } from '../figures.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { cancelActive } from './cancel-active.ts'

export const MAX_STARTS_PER_HOUR = 100
const TOO_MANY = 'too many starts'

/** The workflow to start, with its TRIGGER step. */
export type StartableWorkflow = Pick<
  Workflow,
  'id' | 'projectId' | 'name' | 'allowsReentry' | 'cancelledThrough' | 'cancelReason'
> & { triggerStepId: string }

export type Start = {
  contactId: string
  context: Record<string, unknown> | null
  /** The event that starts the execution; null for other starts. */
  source: { id: string; seq: number } | null
  at: number
}

export type StartOutcome =
  | { kind: 'started'; id: string }
  /** An earlier execution of the contact stands in the way: `status`. */
  | { kind: 'held back'; status: ExecutionStatus }
  | { kind: 'too many' }

type StartDeps = { workflowNotifier: WorkflowNotifier }

type Earlier = { number: number; status: ExecutionStatus }

const findActive = statement<Earlier>(
  () => sql`select number, status from workflow_executions
    where workflow_id = ${parameter('workflowId')} and contact_id = ${parameter('contactId')}
      and status in ('RUNNING', 'WAITING')`,
)

const findNewest = statement<Earlier>(
  () => sql`select number, status from workflow_executions
    where contact_id = ${parameter('contactId')} and workflow_id = ${parameter('workflowId')}
    order by started_at desc limit 1`,
)

/** The starts since an instant, at most one more than the limit, and whether one was cut off. */
const countStarts = statement<{ starts: number; cutOff: number }>(
  () => sql`select count(*) as starts,
      coalesce(max(exit_reason = ${TOO_MANY} and status = 'CANCELLED'), 0) as "cutOff"
    from (select exit_reason, status from workflow_executions
      where contact_id = ${parameter('contactId')} and workflow_id = ${parameter('workflowId')}
        and started_at > ${parameter('since')}
      limit ${MAX_STARTS_PER_HOUR + 1})`,
)

const insertExecution = statement((db) =>
  db.insert(workflowExecutions).values({
    id: parameter('id'),
    projectId: parameter('projectId'),
    workflowId: parameter('workflowId'),
    contactId: parameter('contactId'),
    status: parameter('status'),
    currentStepId: parameter('currentStepId'),
    exitReason: parameter('exitReason'),
    context: parameter('context'),
    sourceEventId: parameter('sourceEventId'),
    sourceEventSeq: parameter('sourceEventSeq'),
    dueAt: parameter('dueAt'),
    startedAt: parameter('at'),
    completedAt: parameter('completedAt'),
    updatedAt: parameter('at'),
  }),
)

/** The contact must exist and belong to the workflow's project. */
export async function startExecution(
  { workflowNotifier }: StartDeps,
  tx: Tx,
  { workflow, start }: { workflow: StartableWorkflow; start: Start },
): Promise<StartOutcome> {
  const { id: workflowId, projectId } = workflow
  const { contactId, at } = start
  const key = { workflowId, contactId }
  const active = await tx.find(findActive, key)
  if (active !== undefined && active.number > workflow.cancelledThrough) {
    return heldBack(tx, workflowId, active)
  }
  // Cancelled with all others, though its row does not say so yet.
  if (active !== undefined) await cancelActive(tx, { workflow, number: active.number, at })
  if (!workflow.allowsReentry) {
    const newest = await tx.find(findNewest, key)
    if (newest !== undefined) return heldBack(tx, workflowId, newest)
  }
  const recent = await tx.find(countStarts, { ...key, since: at - HOUR_MS })
  if (recent !== undefined && recent.starts >= MAX_STARTS_PER_HOUR) {
    if (recent.cutOff) await addFigures(tx, workflowId, [['', 'tooManyStarts', 1]])
    else await insert(tx, { workflow, start, end: TOO_MANY })
    return { kind: 'too many' }
  }
  const id = await insert(tx, { workflow, start, end: null })
  await appendEvent(tx, {
    projectId,
    name: 'workflow.started',
    contactId,
    emailId: null,
    data: { workflowId, workflowName: workflow.name, executionId: id },
    at,
  })
  tx.afterCommit(() => workflowNotifier.notify({ kind: 'due', workflowId, projectId, dueAt: at }))
  return { kind: 'started', id }
}

async function heldBack(tx: Tx, workflowId: string, earlier: Earlier): Promise<StartOutcome> {
  await addFigures(tx, workflowId, [['', 'heldBack', 1]])
  return { kind: 'held back', status: earlier.status }
}

async function insert(
  tx: Tx,
  { workflow, start, end }: { workflow: StartableWorkflow; start: Start; end: string | null },
): Promise<string> {
  const { contactId, context, source, at } = start
  const id = newId()
  await tx.execute(insertExecution, {
    id,
    projectId: workflow.projectId,
    workflowId: workflow.id,
    contactId,
    status: end === null ? 'RUNNING' : 'CANCELLED',
    currentStepId: end === null ? workflow.triggerStepId : null,
    exitReason: end,
    context,
    sourceEventId: source?.id ?? null,
    sourceEventSeq: source?.seq ?? null,
    dueAt: end === null ? at : null,
    completedAt: end === null ? null : at,
    at,
  })
  return id
}
