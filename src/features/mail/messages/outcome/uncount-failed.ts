/**
 * Takes failed emails that are tried again off the figures of their campaigns: a retry has no event that
 * `campaigns/figures/figures.ts` could count.
 */
import { listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'

/**
 * Two bits of `emails.figures`: counted as failed, and counted as failed because the contact has
 * unsubscribed.
 */
const FAILED_BITS = sql.raw('768')

const isCounted = sql`id in ${listOf(parameter('ids'))} and campaign_id is not null
  and figures & ${FAILED_BITS} <> 0`

const subtract = statement(
  () => sql`update campaign_progress set failed_count = failed_count - retried.failed,
      failed_unsubscribed_count = failed_unsubscribed_count - retried.failed_unsubscribed
    from (
      select campaign_id, sum(figures >> 8 & 1) as failed, sum(figures >> 9 & 1) as failed_unsubscribed
      from emails where ${isCounted} group by campaign_id
    ) as retried
    where campaign_progress.campaign_id = retried.campaign_id`,
)

const clearBits = statement(
  () => sql`update emails set figures = figures & ~${FAILED_BITS} where ${isCounted}`,
)

/** `ids`: emails that were failed until this transaction. */
export async function uncountFailed(tx: Tx, ids: readonly string[]): Promise<void> {
  const values = { ids: JSON.stringify(ids) }
  await tx.execute(subtract, values)
  await tx.execute(clearBits, values)
}
