/**
 * Sends `webhook.test` to an endpoint now, also to a disabled one, and returns the delivery with its
 * result. It is not tried again. A success shows that the endpoint works; a failure does not count.
 */
import type { DeliveryRecord } from '../../../../records/webhook-delivery.ts'
import { newId } from '../../../../store/ids.ts'
import { webhookDeliveries } from '../../../../store/schema/webhooks.ts'
import type { Base } from '../../../ground/base.ts'
import { toDeliveryRecord } from '../deliveries/view.ts'
import { openSigningKeys } from '../secrets.ts'
import { attemptColumns, postWebhook } from '../sending/attempt.ts'
import { TEST_EVENT, testPayload } from '../sending/payload.ts'
import { recordSuccess } from '../sending/record.ts'
import { type EndpointKey, loadEndpoint } from './find.ts'

/** @throws AppError RESOURCE_NOT_FOUND */
export async function sendTestDelivery(
  deps: Pick<Base, 'store' | 'keyring' | 'now' | 'webhookClient'>,
  key: EndpointKey,
): Promise<DeliveryRecord> {
  const { store, now } = deps
  const endpoint = await loadEndpoint(store.read, key)
  const { id: endpointId, projectId, url } = endpoint
  const createdAt = now()
  const eventId = newId()
  const body = testPayload({ id: eventId, projectId, endpointId, at: createdAt })
  const keys = openSigningKeys(deps, endpoint, createdAt)
  const startedAt = performance.now()
  const result = await postWebhook(deps, { url: new URL(url), id: eventId, body, keys })
  const durationMs = performance.now() - startedAt
  const at = now()
  const columns = attemptColumns(result, { attempts: 0, dueAt: null, durationMs, at })
  return store.write(async (tx) => {
    // It may have been deleted meanwhile.
    await loadEndpoint(tx, key)
    const [row] = await tx
      .insert(webhookDeliveries)
      .values({
        ...{ id: newId(), endpointId, eventSeq: null, eventId, eventName: TEST_EVENT },
        ...{ ...columns, dueAt: null, completedAt: at, createdAt },
      })
      .returning()
    if (columns.status === 'SUCCEEDED') await recordSuccess(tx, { id: endpointId, at })
    if (row === undefined) throw new TypeError('the delivery was not inserted')
    return toDeliveryRecord(row, endpoint)
  })
}
