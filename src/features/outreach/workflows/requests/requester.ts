/**
 * Makes the requests of WEBHOOK steps (`webhooks/dispatch/dispatcher.ts`): a lane is a workflow. The engine
 * adds a row for each and waits; the result makes the execution due again.
 */
import { sql } from '../../../../store/drizzle.ts'
import { statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { type Dispatcher, startDispatcher } from '../../webhooks/dispatch/dispatcher.ts'
import type { Task } from '../../webhooks/dispatch/task-source.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { attemptRequest, type RequestResult } from './attempt.ts'
import { takeRequests } from './load.ts'
import { createPrepare } from './prepare.ts'
import { recordRequests } from './record.ts'

export type RequesterDeps = Pick<
  Base,
  'store' | 'log' | 'now' | 'config' | 'keyring' | 'outbound' | 'webhookClient'
> & { workflowNotifier: WorkflowNotifier }

type DueWorkflow = { key: string; projectId: string; dueAt: number }

const listWorkflows = statement<DueWorkflow>(
  () => sql`select * from (
      select id as key, project_id as "projectId", (
        select min(due_at) from workflow_requests where workflow_id = workflows.id
      ) as "dueAt" from workflows
    ) as due where "dueAt" is not null`,
)

export function startRequester(deps: RequesterDeps): Pick<Dispatcher, 'reload' | 'stop'> {
  const { store, workflowNotifier } = deps
  const prepare = createPrepare(deps)
  const dispatcher = startDispatcher<Task, RequestResult>(deps, {
    name: 'workflow requests',
    listLanes: () => store.scan.list(listWorkflows),
    take: (lane, query) => takeRequests(deps, lane, query),
    attempt: (task, signal) => attemptRequest(deps, prepare, { task, signal }),
    record: (results) => recordRequests(deps, results),
  })
  const unlisten = workflowNotifier.listen((notice) => {
    if (notice.kind !== 'request') return
    const { workflowId: key, projectId, dueAt } = notice
    dispatcher.notify({ key, projectId }, dueAt)
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
