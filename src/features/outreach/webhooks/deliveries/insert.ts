import { newId } from '../../../../store/ids.ts'
import type { EventRow } from '../../../../store/schema/events.ts'
import { webhookDeliveries } from '../../../../store/schema/webhooks.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'

type DeliveredEvent = Pick<EventRow, 'seq' | 'id' | 'name'>

const insertDelivery = statement((db) =>
  db.insert(webhookDeliveries).values({
    id: parameter('id'),
    endpointId: parameter('endpointId'),
    eventSeq: parameter('eventSeq'),
    eventId: parameter('eventId'),
    eventName: parameter('eventName'),
    status: 'PENDING',
    dueAt: 0,
    createdAt: parameter('at'),
  }),
)

/** Makes a row for each; the rows are sent in this order. Returns their ids. */
export async function insertDeliveries(
  tx: Tx,
  deliveries: readonly { endpointId: string; event: DeliveredEvent }[],
  at: number,
): Promise<string[]> {
  const made = deliveries.map(({ endpointId, event }) => ({
    ...{ id: newId(), endpointId, at },
    ...{ eventSeq: event.seq, eventId: event.id, eventName: event.name },
  }))
  await tx.insertRows(insertDelivery, made)
  return made.map(({ id }) => id)
}
