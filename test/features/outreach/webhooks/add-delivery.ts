/** A delivery that waits, with its event. */
import { appendEvent } from '../../../../src/features/ground/events/append.ts'
import { insertDeliveries } from '../../../../src/features/outreach/webhooks/deliveries/deliveries.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { events } from '../../../../src/store/schema/events.ts'
import type { TestCore } from '../../../core.ts'

type NewDelivery = { projectId: string; endpointId: string; name?: string }

/** Returns the id of the delivery. */
export async function addDelivery(
  { store, now }: Pick<TestCore, 'store' | 'now'>,
  { projectId, endpointId, name = 'order placed' }: NewDelivery,
): Promise<string> {
  const at = now()
  const [id] = await store.write(async (tx) => {
    const event = { projectId, name, contactId: null, emailId: null, data: {}, at }
    const eventId = await appendEvent(tx, event)
    const [row] = await tx.select().from(events).where(eq(events.id, eventId))
    return insertDeliveries(tx, [{ endpointId, event: row! }], at)
  })
  return id!
}
