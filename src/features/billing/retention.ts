/** Deletes what is known no longer than it is needed: events of Stripe, and batches that are charged. */
import { DAY_MS } from '../../clock.ts'
import { and, eq, lt } from '../../store/drizzle.ts'
import { meteringBatches, stripeEvents } from '../../store/schema/billing.ts'
import type { Base } from '../base.ts'

/** Stripe repeats events for days, and settles nothing that is older than 35 days. */
const KEPT_MS = 40 * DAY_MS

export async function deleteExpiredBilling({
  store,
  now,
}: Pick<Base, 'store' | 'now'>): Promise<void> {
  const before = now() - KEPT_MS
  await store.write(async (tx) => {
    await tx.delete(stripeEvents).where(lt(stripeEvents.createdAt, before))
  })
  await store.write(async (tx) => {
    await tx
      .delete(meteringBatches)
      .where(and(eq(meteringBatches.state, 'charged'), lt(meteringBatches.occurredAt, before)))
  })
}
