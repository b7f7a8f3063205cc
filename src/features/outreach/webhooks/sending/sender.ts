/** Sends the deliveries of all endpoints (`dispatch/dispatcher.ts`). */
import { sql } from '../../../../store/drizzle.ts'
import { statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { type Dispatcher, startDispatcher } from '../dispatch/dispatcher.ts'
import { attemptDelivery, type DeliveryResult } from './attempt.ts'
import { type DeliveryTask, takeDeliveries } from './endpoint-tasks.ts'
import { type RecordDeps, recordDeliveries } from './record.ts'

export type SenderDeps = RecordDeps & Pick<Base, 'keyring' | 'log' | 'webhookClient'>

type DueEndpoint = { key: string; projectId: string; dueAt: number }

const listEndpoints = statement<DueEndpoint>(
  () => sql`select * from (
      select id as key, project_id as "projectId", (
        select min(due_at) from webhook_deliveries
        where endpoint_id = webhook_endpoints.id and due_at is not null
      ) as "dueAt" from webhook_endpoints where enabled = 1 and deleted_at is null
    ) as due where "dueAt" is not null`,
)

export function startWebhookSender(deps: SenderDeps): Pick<Dispatcher, 'reload' | 'stop'> {
  const { store, webhookNotifier } = deps
  const dispatcher = startDispatcher<DeliveryTask, DeliveryResult>(deps, {
    name: 'webhooks',
    listLanes: () => store.scan.list(listEndpoints),
    take: (lane, query) => takeDeliveries(deps, lane, query),
    attempt: (task, signal) => attemptDelivery(deps, task, signal),
    record: (results) => recordDeliveries(deps, results),
  })
  const unlisten = webhookNotifier.listen(({ kind, endpointId: key, projectId }) => {
    if (kind === 'due') dispatcher.notify({ key, projectId }, 0)
    else dispatcher.refresh({ key, projectId })
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
