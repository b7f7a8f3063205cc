/** Changes rows of `emails` as no part of the program does, and puts all emails on their shelves. */
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
  await tx.update(emails).set(values).where(condition)
  await tx.run(sql`update emails set shelf = case
    when state = 'sending' and campaign_id is not null then coalesce(shelf, ${SHELF.queued})
    else ${shelfNow} end`)
}
