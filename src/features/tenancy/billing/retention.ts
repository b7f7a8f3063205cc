/** Deletes what is known no longer than it is needed: events of Stripe, and batches that have ended. */
import { DAY_MS, MINUTE_MS } from '../../../base/clock.ts'
import { indexedBy, rowNumber } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { createBatchPace } from '../../../work/jobs/pace.ts'
import type { Base } from '../../ground/base.ts'

/** Stripe repeats events for days, and takes no meter event that is older than 35 days. */
const KEPT_MS = 40 * DAY_MS
const FIRST_BATCH = 100
const MAX_BATCH = 2_000

const BEFORE = parameter('before')
const LIMIT = parameter('limit')

const eraseEvents = statement(
  () => sql`delete from stripe_events where id in (
    select id from stripe_events where created_at < ${BEFORE} limit ${LIMIT})`,
)

/**
 * A customer has a batch in each minute in which mail was sent. Those of a minute that is not settled yet
 * are still read: they are what its summary is compared with.
 */
export const eraseEnded = statement(
  () => sql`delete from metering_batches where ${rowNumber()} in (
    select ${rowNumber('ended')}
    from metering_batches as ended ${indexedBy('metering_batches_ended')}
    where state in ('charged', 'dropped') and occurred_at < ${BEFORE} and not exists (
      select 1 from metering_batches as open ${indexedBy('metering_batches_window')}
      where open.customer = ended.customer and open.state not in ('charged', 'dropped')
        and open.occurred_at > ended.occurred_at - ${MINUTE_MS}
        and open.occurred_at < ended.occurred_at + ${MINUTE_MS})
    limit ${LIMIT})`,
)

export async function deleteExpiredBilling(
  { store, now }: Pick<Base, 'store' | 'now'>,
  signal?: AbortSignal,
): Promise<void> {
  const before = now() - KEPT_MS
  for (const erase of [eraseEvents, eraseEnded]) {
    const pace = createBatchPace({ first: FIRST_BATCH, max: MAX_BATCH })
    for (let limit = 0, erased = 0; erased === limit; ) {
      if (signal?.aborted) return
      limit = pace.size()
      const act = () =>
        store.write((tx) => pace.measure(limit, () => tx.execute(erase, { before, limit })), {
          heavyFor: 'retention',
        })
      erased = await pace.batch(act, signal)
    }
  }
}
