/**
 * Makes the requests of WEBHOOK steps (`webhooks/dispatch/dispatcher.ts`), and records their attempts.
 *
 * The engine adds a row for each request and waits. The final result ends the step and makes the execution due, in one
 * transaction; the engine counts it and goes on. A result whose request was deleted or cancelled meanwhile is dropped.
 */
import { sql } from '../../../../store/drizzle.ts'
import { workflowStepExecutions } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { type Dispatcher, startDispatcher } from '../../webhooks/dispatch/dispatcher.ts'
import type { RequestTask, TaskKey } from '../../webhooks/dispatch/tasks.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { attemptRequest, type RequestResult } from './attempt.ts'
import { takeRequests } from './load.ts'
import { createPrepare } from './render.ts'

export type RequesterDeps = Pick<
  Base,
  'store' | 'log' | 'now' | 'config' | 'keyring' | 'outbound' | 'webhookClient'
> & { workflowNotifier: WorkflowNotifier }

type DueWorkflow = { id: string; projectId: string; dueAt: number }

const listWorkflows = statement<DueWorkflow>(
  () => sql`select * from (
      select id, project_id as "projectId", (
        select min(due_at) from workflow_requests where workflow_id = workflows.id
      ) as "dueAt" from workflows
    ) as due where "dueAt" is not null`,
)

type RecordDeps = Pick<RequesterDeps, 'store' | 'now' | 'workflowNotifier'>

const isIt = sql`execution_number = ${parameter('number')}
  and step_execution_id = ${parameter('stepExecutionId')}
  and execution_number > (
    select cancelled_through from workflows where id = workflow_requests.workflow_id)`

const deleteRequest = statement(() => sql`delete from workflow_requests where ${isIt}`)

const postponeRequest = statement(
  () => sql`update workflow_requests
    set attempts = ${parameter('attempts')}, due_at = ${parameter('dueAt')} where ${isIt}`,
)

const updateStep = statement((db) =>
  db
    .update(workflowStepExecutions)
    .set({
      status: parameter('status'),
      input: parameter('input'),
      output: parameter('output'),
      error: parameter('error'),
      completedAt: parameter('completedAt'),
    })
    .where(
      sql`${workflowStepExecutions.executionNumber} = ${parameter('number')}
        and ${workflowStepExecutions.ordinal} = ${parameter('ordinal')}`,
    ),
)

/** Makes the execution due. A due time of 0 means at once, even if the clock is set back. */
const setDue = statement(
  () => sql`update workflow_executions set due_at = 0
    where number = ${parameter('number')} and status in ('RUNNING', 'WAITING')`,
)

export function startRequester(deps: RequesterDeps): Pick<Dispatcher, 'reload' | 'stop'> {
  const { store, workflowNotifier } = deps
  const prepare = createPrepare(deps)
  const dispatcher = startDispatcher<RequestTask, RequestResult>(deps, {
    name: 'workflow requests',
    listKeys: () => store.scan.list(listWorkflows),
    take: (key, query) => takeRequests(deps, key, query),
    attempt: (task, signal) => attemptRequest(deps, prepare, { task, signal }),
    record: (results) => recordRequests(deps, results),
  })
  const unlisten = workflowNotifier.listen((notice) => {
    if (notice.kind !== 'request') return
    const { workflowId: id, projectId, dueAt } = notice
    dispatcher.notify({ id, projectId }, dueAt)
  })
  const unwatch = store.onExternalChange(dispatcher.reload)
  return {
    reload: dispatcher.reload,
    async stop(graceMs) {
      unlisten()
      unwatch()
      await dispatcher.stop(graceMs)
    },
  }
}

async function recordRequests(
  deps: RecordDeps,
  recorded: readonly { key: TaskKey; result: RequestResult }[],
): Promise<void> {
  const { store, now, workflowNotifier } = deps
  await store.write(async (tx) => {
    const at = now()
    const due = new Set<TaskKey>()
    for (const { key, result } of recorded) {
      const isEnd = result.status !== null
      if (isEnd ? await end(tx, result, at) : await postpone(tx, result)) {
        if (isEnd) due.add(key)
      }
    }
    tx.afterCommit(() => {
      for (const { id: workflowId, projectId } of due)
        workflowNotifier.notify({ kind: 'due', workflowId, projectId, dueAt: 0 })
    })
  })
}

async function end(tx: Tx, result: RequestResult, at: number): Promise<boolean> {
  const { number, stepExecutionId, ordinal, status, input, output, error } = result
  if ((await tx.execute(deleteRequest, { number, stepExecutionId })) === 0) return false
  await tx.execute(updateStep, { number, ordinal, status, input, output, error, completedAt: at })
  await tx.execute(setDue, { number })
  return true
}

async function postpone(tx: Tx, result: RequestResult): Promise<boolean> {
  const { number, stepExecutionId, ordinal, attempts, dueAt, input, output, error } = result
  const key = { number, stepExecutionId }
  if ((await tx.execute(postponeRequest, { ...key, attempts, dueAt })) === 0) return false
  const state = { status: 'WAITING', input, output, error, completedAt: null }
  await tx.execute(updateStep, { number, ordinal, ...state })
  return true
}
