/** A campaign begins to send: its status changes and it gets a row of progress. */
import { eq, sql } from '../../../../store/drizzle.ts'
import { type Campaign, campaignProgress, campaigns } from '../../../../store/schema/campaigns.ts'
import type { Tx } from '../../../../store/write/transaction.ts'

/**
 * Only contacts that exist now get the campaign. The caller has checked the status in `tx`, and wakes
 * the sending after the commit.
 */
export async function beginSending(
  tx: Tx,
  { id, projectId }: Pick<Campaign, 'id' | 'projectId'>,
  at: number,
): Promise<void> {
  await tx.update(campaigns).set({ status: 'SENDING', updatedAt: at }).where(eq(campaigns.id, id))
  const lastNumber = await findLastNumber(tx)
  await tx.insert(campaignProgress).values({ campaignId: id, projectId, begunAt: at, lastNumber })
}

/** The highest number of any contact: numbers are not given twice. */
async function findLastNumber(tx: Tx): Promise<number> {
  const row = await tx.get<{ last: number | null }>(sql`select max(number) as last from contacts`)
  return row.last ?? 0
}
