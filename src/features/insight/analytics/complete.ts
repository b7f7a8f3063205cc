/**
 * Whether the counts already include the mail and events from before analytics existed. Until then,
 * the figures are too low.
 */
import { sql } from '../../../store/drizzle.ts'
import { statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

const findBehind = statement<{ behind: number }>(
  () => sql`select 1 as behind from event_followers as analytics
    join event_followers as backfill on backfill.seq > analytics.seq
    where analytics.name = 'analytics' and backfill.name = 'analytics-backfill'`,
)

export async function isAnalyticsComplete(reader: Pick<Tx, 'find'>): Promise<boolean> {
  return (await reader.find(findBehind)) === undefined
}
