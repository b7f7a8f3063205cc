/**
 * Records that a contact asked to be unsubscribed after a bounce had already unsubscribed it. The
 * request changes nothing and emits no event, but its time is recorded with the suppression,
 * because undoing the suppression must not subscribe the contact again.
 */
import { sql } from '../../../store/drizzle.ts'
import { suppressions } from '../../../store/schema/suppressions.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

const isUnrecorded = sql`${suppressions.wishedAt} is null
  and ${suppressions.reason} in ('HARD_BOUNCE', 'STRIKES')`

const isOfContact = sql`(${suppressions.projectId}, ${suppressions.address}) =
  (select project_id, email from contacts where id = ${parameter('contactId')})`

const setWished = statement((db) =>
  db
    .update(suppressions)
    .set({ wishedAt: parameter('at') })
    .where(sql`${isOfContact} and ${isUnrecorded}`),
)

/**
 * Finds the contact's suppression for bounces, unless a request to unsubscribe is recorded with it.
 */
export const findUnrecordedWish = statement<{ id: string }>(
  () => sql`select id from ${suppressions} where ${isOfContact} and ${isUnrecorded}`,
)

export async function recordUnsubscribeWish(
  tx: Tx,
  { contactId, at }: { contactId: string; at: number },
): Promise<void> {
  await tx.execute(setWished, { contactId, at })
}
