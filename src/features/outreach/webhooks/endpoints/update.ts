/**
 * Changes an endpoint. Disabling it fails what waits. Enabling it replays nothing: it gets the events
 * from then on, and its failures are forgotten.
 */
import type { EndpointRecord } from '../../../../records/webhook-endpoint.ts'
import { eq } from '../../../../store/drizzle.ts'
import { type WebhookEndpoint, webhookEndpoints } from '../../../../store/schema/webhooks.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { newestSeq } from '../../../ground/events/followed-rows.ts'
import { refusePrivateTarget } from './create.ts'
import { disableEndpoint, enqueueClearing } from './disable.ts'
import { type EndpointKey, loadEndpoint } from './find.ts'
import { toEndpointRecord } from './view.ts'

export type EndpointChanges = {
  url?: string | undefined
  events?: string[] | undefined
  description?: string | null | undefined
  enabled?: boolean | undefined
}

type UpdateDeps = Pick<Base, 'store' | 'now' | 'webhookClient' | 'webhookNotifier' | 'jobNotifier'>

/** @throws AppError RESOURCE_NOT_FOUND; VALIDATION_ERROR for a URL that leads to a private address */
export async function updateEndpoint(
  deps: UpdateDeps,
  key: EndpointKey,
  { enabled, ...changes }: EndpointChanges,
): Promise<EndpointRecord> {
  if (changes.url !== undefined) refusePrivateTarget(deps, changes.url)
  return deps.store.write(async (tx) => {
    const row = await loadEndpoint(tx, key)
    const mayEnable = enabled === true && !row.isEnabled
    const set = { ...defined(changes), ...(mayEnable ? await enabledColumns(tx) : {}) }
    await tx
      .update(webhookEndpoints)
      .set({ ...set, updatedAt: deps.now() })
      .where(eq(webhookEndpoints.id, row.id))
    // What is to be tried again waits for the job, whose earlier run may have failed.
    if (mayEnable && row.failedThrough > 0) await enqueueClearing(deps, tx, key)
    if (enabled === false) await disableEndpoint(deps, tx, { ...key, reason: null })
    const { id: endpointId, projectId } = key
    tx.afterCommit(() => deps.webhookNotifier.notify({ kind: 'changed', endpointId, projectId }))
    return toEndpointRecord(await loadEndpoint(tx, key))
  })
}

async function enabledColumns(tx: Tx): Promise<Partial<WebhookEndpoint>> {
  const afterSeq = await newestSeq(tx, 'events')
  return { isEnabled: true, disabledReason: null, failingSince: null, afterSeq }
}

function defined<T extends object>(changes: T): Partial<T> {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as Partial<T>
}
