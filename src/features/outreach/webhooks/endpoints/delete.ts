import type { Base } from '../../../ground/base.ts'
import { markDeleted } from './disable.ts'
import { type EndpointKey, loadEndpoint } from './find.ts'

/**
 * Deletes an endpoint; nothing more is sent to it. A job deletes its deliveries later.
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function removeEndpoint(
  deps: Pick<Base, 'store' | 'now' | 'webhookNotifier' | 'jobNotifier'>,
  key: EndpointKey,
): Promise<void> {
  await deps.store.write(async (tx) => {
    await loadEndpoint(tx, key)
    await markDeleted(deps, tx, key)
  })
}
