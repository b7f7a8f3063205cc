/** Inserts the rows of executions that start, and the rows that say why a contact did not start. */
import { newId } from '../../../../store/ids.ts'
import { type Workflow, workflowExecutions } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { appendEvents, type NewEvent } from '../../../ground/events/append.ts'
import type { TurnKey, WorkflowNotifier } from '../notifier.ts'

/** The workflow to start, with its TRIGGER step. */
export type StartableWorkflow = Pick<
  Workflow,
  'id' | 'projectId' | 'name' | 'allowsReentry' | 'cancelledThrough' | 'cancelReason'
> & { triggerStepId: string }

type ExecutionStart = {
  contactId: string
  context: Record<string, unknown> | null
  /** The event that starts the execution; null for other starts. */
  source: { id: string; seq: number } | null
  /**
   * The number of executions that led to the event; 0 for starts by a request, a schedule or a
   * person.
   */
  depth: number
  at: number
}

/** An execution to start. */
export type WantedExecution = { workflow: StartableWorkflow; start: ExecutionStart }

export type StartDeps = { workflowNotifier: WorkflowNotifier }

const insertExecution = statement((db) =>
  db
    .insert(workflowExecutions)
    .values({
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
      depth: parameter('depth'),
      startedAt: parameter('at'),
      completedAt: parameter('completedAt'),
      updatedAt: parameter('at'),
    })
    .onConflictDoNothing(),
)

/**
 * Starts the executions in their order; the caller has checked that no rule holds them back.
 * Returns their ids; undefined where the event has started an execution before.
 */
export async function insertExecutions(
  { workflowNotifier }: StartDeps,
  tx: Tx,
  wanted: readonly WantedExecution[],
): Promise<(string | undefined)[]> {
  const rows = wanted.map((each) => toRow(each, null))
  const inserted = await tx.executeEach(insertExecution, rows)
  const ids = rows.map(({ id }, index) => (inserted[index] === 1 ? id : undefined))
  const events: NewEvent[] = []
  const due = new Map<string, TurnKey>()
  for (const [index, { workflow, start }] of wanted.entries()) {
    const executionId = ids[index]
    if (executionId === undefined) continue
    const { contactId, depth, at } = start
    if (depth === 0) events.push(startedEvent({ workflow, executionId, contactId, depth, at }))
    due.set(workflow.id, { workflowId: workflow.id, projectId: workflow.projectId })
  }
  await appendEvents(tx, events)
  tx.afterCommit(() => {
    for (const key of due.values()) workflowNotifier.notify({ kind: 'due', ...key, dueAt: 0 })
  })
  return ids
}

/** Inserts a CANCELLED row that says why the contact does not walk. */
export async function insertCancelled(
  tx: Tx,
  wanted: WantedExecution,
  reason: string,
): Promise<void> {
  await tx.execute(insertExecution, toRow(wanted, reason))
}

/** Returns the event `workflow.started` of an execution. */
export function startedEvent({
  workflow,
  executionId,
  contactId,
  depth,
  at,
}: {
  workflow: Pick<Workflow, 'id' | 'projectId' | 'name'>
  executionId: string
  contactId: string
  depth: number
  at: number
}): NewEvent {
  const { id: workflowId, projectId, name: workflowName } = workflow
  const data = { workflowId, workflowName, executionId }
  const event = { projectId, name: 'workflow.started', contactId, emailId: null, data, at }
  return { ...event, depth: depth + 1 }
}

function toRow({ workflow, start }: WantedExecution, cancelReason: string | null) {
  const { contactId, context, source, depth, at } = start
  const isCancelled = cancelReason !== null
  const active = depth === 0 ? 'RUNNING' : 'WAITING'
  return {
    id: newId(),
    projectId: workflow.projectId,
    workflowId: workflow.id,
    contactId,
    status: isCancelled ? 'CANCELLED' : active,
    currentStepId: isCancelled ? null : workflow.triggerStepId,
    exitReason: cancelReason,
    context,
    sourceEventId: source?.id ?? null,
    sourceEventSeq: source?.seq ?? null,
    dueAt: isCancelled ? null : 0,
    depth,
    completedAt: isCancelled ? at : null,
    at,
  }
}
