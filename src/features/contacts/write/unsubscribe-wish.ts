/**
 * That a contact wants no mail, said when it was unsubscribed already. That is no flip and no event.
 * Where a verdict of ours had unsubscribed the contact, taking back the verdict must not take back
 * the wish, so the wish is noted beside the verdict.
 */
import { sql } from '../../../store/drizzle.ts'
import { suppressions } from '../../../store/schema/suppressions.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

const isUnsaid = sql`${suppressions.wishedAt} is null
  and ${suppressions.reason} in ('HARD_BOUNCE', 'STRIKES')`

const isOfContact = sql`(${suppressions.projectId}, ${suppressions.address}) =
  (select project_id, email from contacts where id = ${parameter('contactId')})`

const setWished = statement((db) =>
  db
    .update(suppressions)
    .set({ wishedAt: parameter('at') })
    .where(sql`${isOfContact} and ${isUnsaid}`),
)

export const findUnsaidWish = statement<{ id: string }>(
  () => sql`select id from ${suppressions} where ${isOfContact} and ${isUnsaid}`,
)

export async function noteWish(
  tx: Tx,
  { contactId, at }: { contactId: string; at: number },
): Promise<void> {
  await tx.execute(setWished, { contactId, at })
}
