import { formatOptionalInstant } from '../../../../base/clock.ts'
import type { EndpointRecord } from '../../../../records/webhook-endpoint.ts'
import { eq } from '../../../../store/drizzle.ts'
import { webhookEndpoints } from '../../../../store/schema/webhooks.ts'
import type { Base } from '../../../ground/base.ts'
import { rotateSecret } from '../secrets.ts'
import { type EndpointKey, loadEndpoint } from './find.ts'
import { toEndpointRecord } from './view.ts'

export type RotatedEndpoint = EndpointRecord & {
  secret: string
  /** Until then the previous secret signs, too. */
  previousSecretUntil: string | null
}

/**
 * Gives an endpoint a new secret. For a day both secrets sign, so that no receiver misses an event.
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function rotateEndpointSecret(
  deps: Pick<Base, 'store' | 'keyring' | 'now' | 'webhookNotifier'>,
  key: EndpointKey,
): Promise<RotatedEndpoint> {
  const at = deps.now()
  return deps.store.write(async (tx) => {
    const row = await loadEndpoint(tx, key)
    const { secret, columns } = rotateSecret(deps, row, at)
    const isRow = eq(webhookEndpoints.id, row.id)
    await tx
      .update(webhookEndpoints)
      .set({ ...columns, updatedAt: at })
      .where(isRow)
    const { id: endpointId, projectId } = key
    tx.afterCommit(() => deps.webhookNotifier.notify({ kind: 'changed', endpointId, projectId }))
    const view = toEndpointRecord(await loadEndpoint(tx, key))
    return { ...view, secret, previousSecretUntil: formatOptionalInstant(columns.previousUntil) }
  })
}
