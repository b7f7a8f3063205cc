/** Deletes events of Stripe and ended batches that are no longer needed. */
import { DAY_MS, MINUTE_MS } from '../../../base/clock.ts'
import { indexedBy, rowNumber } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { oldRows, type Retention } from '../../../work/retention.ts'

/** Stripe repeats events for days, and takes no meter event that is older than 35 days. */
const KEPT_MS = 40 * DAY_MS

const BEFORE = parameter('before')
const LIMIT = parameter('limit')

/**
 * Keeps ended batches of a minute that is not settled yet: the summary of the minute is compared
 * with them. A customer has a batch in each minute in which mail was sent.
 */
export const deleteEnded = statement(
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

export const BILLING: Retention = {
  name: 'delete-expired-billing',
  schedule: '0 5 * * *',
  keptMs: KEPT_MS,
  deletions: [
    oldRows({
      ...{ table: 'stripe_events', key: 'id', column: 'created_at' },
      index: 'stripe_events_oldest',
    }),
    { statement: deleteEnded, index: 'metering_batches_ended' },
  ],
  pace: { first: 100, max: 2_000, batchMs: 4, rest: { times: 2 } },
}
