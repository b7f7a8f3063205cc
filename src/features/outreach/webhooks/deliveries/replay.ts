/**
 * Sends an event to an endpoint when the project asks: the event of an earlier delivery, or a test.
 * A replay has the same `webhook-id` as the earlier delivery. If that delivery still waits, it is
 * tried now; if it has ended, a new delivery is made.
 */
import { AppError, notFound } from '../../../../base/errors.ts'
import type { DeliveryRecord } from '../../../../records/webhook-delivery.ts'
import { and, eq, sql } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import { events } from '../../../../store/schema/events.ts'
import { type WebhookDelivery, webhookDeliveries } from '../../../../store/schema/webhooks.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { type EndpointKey, loadEndpoint } from '../endpoints/endpoint.ts'
import { attemptColumns, postWebhook } from '../sending/attempt.ts'
import { TEST_EVENT, testPayload } from '../sending/payload.ts'
import { recordSuccess } from '../sending/sender.ts'
import { openSigningKeys } from '../signing.ts'
import { insertDeliveries, toDeliveryRecord } from './deliveries.ts'

/** @throws AppError RESOURCE_NOT_FOUND; BAD_REQUEST for a disabled endpoint or a deleted event */
export async function replayDelivery(
  { store, now, webhookNotifier }: Pick<Base, 'store' | 'now' | 'webhookNotifier'>,
  key: EndpointKey,
  deliveryId: string,
): Promise<DeliveryRecord> {
  return store.write(async (tx) => {
    const endpoint = await loadEndpoint(tx, key)
    const row = await loadDelivery(tx, key.id, deliveryId)
    if (!endpoint.isEnabled) throw endpointIsDisabled()
    const isWaiting = row.status === 'PENDING' && row.number > endpoint.failedThrough
    const id = isWaiting ? await bringForward(tx, row) : await repeat(tx, row, now())
    const { id: endpointId, projectId } = key
    tx.afterCommit(() => webhookNotifier.notify({ kind: 'due', endpointId, projectId }))
    return toDeliveryRecord(await loadDelivery(tx, key.id, id), endpoint)
  })
}

/**
 * Sends `webhook.test` to an endpoint now, even to a disabled one, and returns the delivery with
 * its result. A failed test is not tried again. A success shows that the endpoint works; a failure
 * does not count.
 * @throws AppError RESOURCE_NOT_FOUND
 */
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
    // The endpoint may have been deleted meanwhile.
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

export function endpointIsDisabled(): AppError {
  return new AppError('BAD_REQUEST', 'The webhook endpoint is disabled.', {
    suggestion: 'Enable the endpoint first.',
  })
}

async function loadDelivery(tx: Tx, endpointId: string, id: string): Promise<WebhookDelivery> {
  const isIt = and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.endpointId, endpointId))
  const row = await tx.select().from(webhookDeliveries).where(isIt).get()
  if (row === undefined)
    throw notFound('webhook delivery', id, 'No delivery of this endpoint has that id.')
  return row
}

/** Makes a waiting delivery due at once, even if the clock is set back. */
async function bringForward(tx: Tx, { number, id }: WebhookDelivery): Promise<string> {
  await tx
    .update(webhookDeliveries)
    .set({ dueAt: 0 })
    .where(sql`${webhookDeliveries.number} = ${number} and ${webhookDeliveries.dueAt} > 0`)
  return id
}

async function repeat(tx: Tx, row: WebhookDelivery, at: number): Promise<string> {
  const { eventSeq, eventId, eventName, endpointId } = row
  const isEvent = and(eq(events.seq, eventSeq ?? -1), eq(events.id, eventId))
  const event = await tx.select({ seq: events.seq }).from(events).where(isEvent).get()
  if (event === undefined) {
    const isTest = eventSeq === null
    const text = isTest ? 'A test cannot be replayed.' : 'The event was deleted.'
    throw new AppError('BAD_REQUEST', text)
  }
  const delivery = { endpointId, event: { seq: event.seq, id: eventId, name: eventName } }
  const [id = ''] = await insertDeliveries(tx, [delivery], at)
  return id
}
