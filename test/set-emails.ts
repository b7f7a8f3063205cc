/** Changes rows of `emails` as no part of the program does, and puts these emails on their shelves. */
import { listOf, rowNumber } from '../src/store/dialect.ts'
import { type SQL, sql } from '../src/store/drizzle.ts'
import { type Email, emails } from '../src/store/schema/messages.ts'
import { SHELF, shelfNow } from '../src/store/shelves.ts'
import type { Tx } from '../src/store/write/transaction.ts'

/** Of all emails without a condition. */
export async function setEmails(
  tx: Tx,
  values: { [Name in keyof Email]?: Email[Name] | SQL },
  condition?: SQL,
): Promise<void> {
  const rows = await tx.select({ number: rowNumber() }).from(emails).where(condition)
  const numbers = rows.map(({ number }) => Number(number))
  const isChanged = sql`${rowNumber()} in ${listOf(numbers)}`
  await tx.update(emails).set(values).where(isChanged)
  await tx.run(sql`update emails set shelf = case
    when state = 'sending' and campaign_id is not null then coalesce(shelf, ${SHELF.queued})
    else ${shelfNow} end where ${isChanged}`)
}
