/**
 * Starts executions, and lets failed ones go on. Events, requests, bulk starts and schedules start with one
 * function, which applies the rules of re-entry and the limit of starts, and does nothing that can fail for one
 * contact.
 *
 *   allowReentry false   any earlier execution of the contact holds the start back
 *   allowReentry true    an active execution does
 *   over 100 an hour     one CANCELLED execution "too many starts" an hour; the others are counted
 *   depth over 5         one CANCELLED execution "chain too deep" of the workflow an hour; the others are
 *                        counted
 *
 * A start by an event that an execution made is part of a chain: it waits in a line (`chains/line.ts`), and
 * `workflow.started` follows when it begins. All others begin at once.
 */
import { HOUR_MS } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import type { ExecutionRecord } from '../../../../records/execution.ts'
import { unseen } from '../../../../store/dialect.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import type { ExecutionStatus } from '../../../../store/schema/words.ts'
import { type Workflow, workflowExecutions } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { EXIT_REASONS } from '../exit-reasons.ts'
import { addFigures } from '../figures.ts'
import { MAX_CHAIN_DEPTH } from '../limits.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { cancelActive } from './cancel-active.ts'
import { type ExecutionKey, loadExecution } from './find.ts'
import {
  insertCancelled,
  insertExecutions,
  type StartableWorkflow,
  type StartDeps,
  type WantedExecution,
} from './insert.ts'
import { type FoundExecution, shownStatus, toExecutionRecord } from './view.ts'

export const MAX_STARTS_PER_HOUR = 100

export type StartOutcome =
  | { kind: 'started'; id: string }
  /**
   * An earlier execution of the contact stands in the way. `status`: the status of that execution.
   */
  | { kind: 'held back'; status: ExecutionStatus }
  | { kind: 'too many' }
  | { kind: 'too deep' }

type Earlier = { number: number; status: ExecutionStatus; startedAt: number }

/**
 * Whether the execution has begun. Rows that only say why a contact did not walk do not count: they
 * hold no later start back.
 */
const hasBegun = sql`(status <> 'CANCELLED' or exit_reason is null
  or exit_reason not in (${EXIT_REASONS.chainTooDeep}, ${EXIT_REASONS.workflowDisabled}))`

const findNewest = statement<Earlier>(
  () => sql`select number, status, started_at as "startedAt" from workflow_executions
    where contact_id = ${unseen(parameter('contactId'))}
      and workflow_id = ${unseen(parameter('workflowId'))} and ${hasBegun}
    order by started_at desc limit 1`,
)

const findActive = statement<Earlier>(
  () => sql`select number, status, started_at as "startedAt" from workflow_executions
    where workflow_id = ${parameter('workflowId')} and contact_id = ${parameter('contactId')}
      and status in ('RUNNING', 'WAITING')`,
)

const findBySource = statement<Earlier>(
  () => sql`select number, status, started_at as "startedAt" from workflow_executions
    where workflow_id = ${parameter('workflowId')} and source_event_seq = ${parameter('seq')}`,
)

/**
 * Counts the starts of the last hour, up to one more than the limit. `cutOff`: how many of these
 * rows say that there were too many starts.
 */
const countStarts = statement<{ starts: number; cutOff: number }>(
  () => sql`select count(*) as starts,
      coalesce(sum(exit_reason = ${EXIT_REASONS.tooManyStarts} and status = 'CANCELLED'), 0) as "cutOff"
    from (select exit_reason, status from workflow_executions
      where contact_id = ${parameter('contactId')} and workflow_id = ${parameter('workflowId')}
        and started_at > ${parameter('since')} and started_at <= ${parameter('at')}
        and ${hasBegun}
      limit ${MAX_STARTS_PER_HOUR + 1})`,
)

/** Notes that a chain was cut, if an hour has passed since the last note or the clock went back. */
const markCut = statement(
  () => sql`update workflows set chain_cut_at = ${parameter('at')}
    where id = ${parameter('workflowId')} and (chain_cut_at is null
      or chain_cut_at <= ${parameter('since')} or chain_cut_at > ${parameter('at')})`,
)

/**
 * Starts an execution, unless a rule holds it back. The contact must exist and belong to the
 * workflow's project.
 */
export async function startExecution(
  deps: StartDeps,
  tx: Tx,
  { workflow, start }: WantedExecution,
): Promise<StartOutcome> {
  const { id: workflowId } = workflow
  const { contactId, source, depth, at } = start
  const newest = await tx.find(findNewest, { workflowId, contactId })
  if (newest !== undefined) {
    const refusal = await refuseRepeated(tx, { workflow, contactId, at, newest })
    if (refusal !== undefined) return refusal
  }
  if (depth > MAX_CHAIN_DEPTH) return cutChain(tx, { workflow, start })
  if (newest !== undefined) {
    const recent = await findRecent(tx, { workflowId, contactId, at, newest })
    if (recent.starts >= MAX_STARTS_PER_HOUR) {
      if (recent.isCutOff) await addFigures(tx, workflowId, [['', 'tooManyStarts', 1]])
      else await insertCancelled(tx, { workflow, start }, EXIT_REASONS.tooManyStarts)
      return { kind: 'too many' }
    }
  }
  const [id] = await insertExecutions(deps, tx, [{ workflow, start }])
  if (id === undefined) {
    const earlier = source && (await tx.find(findBySource, { workflowId, seq: source.seq }))
    return { kind: 'held back', status: earlier?.status ?? 'RUNNING' }
  }
  return { kind: 'started', id }
}

/** Counts a start whose chain is too deep. Once an hour, a CANCELLED row also says so. */
async function cutChain(tx: Tx, { workflow, start }: WantedExecution): Promise<StartOutcome> {
  const { id: workflowId } = workflow
  const { at } = start
  const isFirst = (await tx.execute(markCut, { workflowId, at, since: at - HOUR_MS })) === 1
  if (isFirst) await insertCancelled(tx, { workflow, start }, EXIT_REASONS.chainTooDeep)
  else await addFigures(tx, workflowId, [['', 'chainTooDeep', 1]])
  return { kind: 'too deep' }
}

/** Applies the rules of re-entry. `newest`: the contact's last execution of the workflow. */
async function refuseRepeated(
  tx: Tx,
  input: { workflow: StartableWorkflow; contactId: string; at: number; newest: Earlier },
): Promise<StartOutcome | undefined> {
  const { workflow, contactId, at, newest } = input
  const { id: workflowId, cancelledThrough } = workflow
  if (!workflow.allowsReentry) return heldBack(tx, workflow, newest)
  const active = await tx.find(findActive, { workflowId, contactId })
  if (active === undefined) return undefined
  if (active.number > cancelledThrough) return heldBack(tx, workflow, active)
  // The earlier execution was cancelled together with all others, although its row does not say so
  // yet.
  await cancelActive(tx, { workflow, number: active.number, at })
  return undefined
}

async function heldBack(
  tx: Tx,
  { id, cancelledThrough }: StartableWorkflow,
  { number, status }: Earlier,
): Promise<StartOutcome> {
  await addFigures(tx, id, [['', 'heldBack', 1]])
  return { kind: 'held back', status: shownStatus({ number, status }, { cancelledThrough }) }
}

/**
 * Counts the starts of the contact in the last hour. If the clock went back, rows may have times
 * after `at`; they do not count.
 */
async function findRecent(
  tx: Tx,
  input: { workflowId: string; contactId: string; at: number; newest: Earlier },
): Promise<{ starts: number; isCutOff: boolean }> {
  const { newest, ...key } = input
  const since = key.at - HOUR_MS
  if (newest.startedAt <= since) return { starts: 0, isCutOff: false }
  const found = await tx.find(countStarts, { ...key, since })
  const { starts = 0, cutOff = 0 } = found ?? {}
  return { starts: starts - cutOff, isCutOff: cutOff > 0 }
}

type RetryDeps = Pick<Base, 'store' | 'now'> & { workflowNotifier: WorkflowNotifier }
type Failed = { workflow: Workflow; execution: FoundExecution }

const findStep = statement<{ id: string }>(
  () => sql`select id from workflow_steps where id = ${parameter('id')} and removed_at is null`,
)

const findOtherActive = statement<{ number: number }>(
  () => sql`select number from workflow_executions
    where workflow_id = ${parameter('workflowId')} and contact_id = ${parameter('contactId')}
      and status in ('RUNNING', 'WAITING')`,
)

/**
 * Opens a failed step again. The step keeps its id, so a webhook that is tried again has the id of
 * the first try.
 */
const reopenFailedStep = statement<{ stepId: string }>(
  () => sql`update workflow_step_executions set status = 'PENDING', completed_at = null, error = null
    where execution_number = ${parameter('number')} and ordinal = ${parameter('ordinal')}
      and status = 'FAILED' returning step_id as "stepId"`,
)

/**
 * Lets a failed execution go on at the step that failed. It goes on even if the workflow is
 * disabled, as other begun executions do.
 * @throws AppError WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND; CONFLICT: it has not failed, its step
 *   was removed, or the contact has another active execution of the workflow
 */
export async function retryExecution(deps: RetryDeps, key: ExecutionKey): Promise<ExecutionRecord> {
  const { store, now, workflowNotifier } = deps
  return store.write(async (tx) => {
    const failed = await loadExecution(tx, key)
    const { workflow, execution } = failed
    const at = now()
    await refuseRetry(tx, failed, at)
    const { number, stepsDone: ordinal } = execution
    const step = await tx.find(reopenFailedStep, { number, ordinal })
    if (step !== undefined) await addFigures(tx, workflow.id, [[step.stepId, 'failed', -1]])
    await tx
      .update(workflowExecutions)
      .set({ status: 'RUNNING', exitReason: null, dueAt: 0, completedAt: null, updatedAt: at })
      .where(eq(workflowExecutions.number, number))
    const { id: workflowId, projectId } = workflow
    tx.afterCommit(() => workflowNotifier.notify({ kind: 'due', workflowId, projectId, dueAt: 0 }))
    const retried = await loadExecution(tx, key)
    return toExecutionRecord(retried.execution, workflow)
  })
}

async function refuseRetry(tx: Tx, { workflow, execution }: Failed, at: number): Promise<void> {
  const { number, contactId, currentStepId } = execution
  const { id: workflowId, cancelledThrough } = workflow
  const status = shownStatus(execution, workflow)
  if (status !== 'FAILED') {
    throw new AppError('CONFLICT', `An execution that is ${status} cannot be retried.`)
  }
  const step = currentStepId === null ? undefined : await tx.find(findStep, { id: currentStepId })
  if (step === undefined) {
    throw new AppError('CONFLICT', 'The step at which the execution failed was removed.')
  }
  // Active executions up to this number count as cancelled, so the execution would be cancelled
  // once it is active again.
  if (number <= cancelledThrough) {
    throw new AppError('CONFLICT', 'The executions of the workflow are being cancelled.', {
      suggestion: 'Try again in a moment, when the cancelled executions have been written.',
    })
  }
  const active = await tx.find(findOtherActive, { workflowId, contactId })
  if (active === undefined) return
  if (active.number > cancelledThrough) {
    throw new AppError('CONFLICT', 'The contact has another active execution of the workflow.')
  }
  await cancelActive(tx, { workflow, number: active.number, at })
}
