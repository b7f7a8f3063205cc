/** Whether the follower 'analytics' has counted what was there before analytics existed. */
import { sql } from '../../store/drizzle.ts'
import { statement } from '../../store/statement.ts'
import type { Tx } from '../../store/write/transaction.ts'

const compareCursors = statement<{ isComplete: number }>(
  () => sql`select analytics.seq >= backfill.seq as "isComplete"
    from event_followers as analytics, event_followers as backfill
    where analytics.name = 'analytics' and backfill.name = 'analytics-backfill'`,
)

/** Until then the figures are too low. */
export async function isAnalyticsComplete(reader: Pick<Tx, 'find'>): Promise<boolean> {
  return (await reader.find(compareCursors))?.isComplete === 1
}
