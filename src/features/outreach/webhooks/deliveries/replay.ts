/**
 * Sends the event of a delivery again, under the same `webhook-id`. A delivery that waits is tried now;
 * for one that has ended a new delivery is made.
 */
import { AppError, notFound } from '../../../../base/errors.ts'
import type { DeliveryRecord } from '../../../../records/webhook-delivery.ts'
import { and, eq, sql } from '../../../../store/drizzle.ts'
import { events } from '../../../../store/schema/events.ts'
import { type WebhookDelivery, webhookDeliveries } from '../../../../store/schema/webhooks.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { type EndpointKey, loadEndpoint } from '../endpoints/find.ts'
import { insertDeliveries } from './insert.ts'
import { toDeliveryRecord } from './view.ts'

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

/** It is due at once, also if the clock is set back. */
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
