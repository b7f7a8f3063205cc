/**
 * Unsubscribes the contacts that have the given addresses now. A bounce, a complaint or a
 * suppression is about an address: the contact that the mail was written to may have another one by
 * now, or never had this one.
 */
import { listOf, unindexed } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { contacts } from '../../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { type SubscriptionReason, setSubscribed } from './set-subscribed.ts'

/** Uses the index of addresses, not that of subscribed contacts. */
export const selectSubscribed = statement((db) =>
  db
    .select({ id: contacts.id, address: contacts.address })
    .from(contacts)
    .where(
      sql`${contacts.projectId} = ${parameter('projectId')}
        and ${contacts.address} in ${listOf(parameter('addresses'))}
        and ${unindexed(contacts.subscribed)} = 1`,
    ),
)

type Unsubscription = {
  projectId: string
  /**
   * The addresses (as `ParsedAddress.address`), each with the id of the email that is the reason,
   * if any; the email may be another contact's.
   */
  addresses: ReadonlyMap<string, string | null>
  reason: SubscriptionReason
  at: number
}

export async function unsubscribeAddresses(
  tx: Tx,
  { projectId, addresses, ...change }: Unsubscription,
): Promise<void> {
  const subscribed = await tx.list(selectSubscribed, {
    projectId,
    addresses: JSON.stringify([...addresses.keys()]),
  })
  for (const { id, address } of subscribed) {
    const emailId = addresses.get(address) ?? null
    await setSubscribed(tx, id, { subscribed: false, emailId, ...change })
  }
}
