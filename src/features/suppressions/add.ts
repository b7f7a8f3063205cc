/**
 * Addresses that a project wants no mail sent to, by its own word. Their contacts are unsubscribed
 * with it; who stands on the list already keeps the first reason.
 */
import type { ParsedAddress } from '../../mail/address.ts'
import { sql } from '../../store/drizzle.ts'
import { contacts, type SuppressionReason } from '../../store/schema.ts'
import { parameter, statement, type Tx } from '../../store/store.ts'
import { type SubscriptionReason, setSubscribed } from '../contacts/upsert.ts'
import type { Core } from '../core.ts'
import { suppress } from '../messages/suppression.ts'

export type AddedSuppressions = {
  added: number
  /** On the list before; an address that is given twice counts once. */
  existing: number
}

const subscriptionReasons: Record<SuppressionReason, SubscriptionReason> = {
  HARD_BOUNCE: 'bounce',
  STRIKES: 'bounce',
  COMPLAINT: 'complaint',
  MANUAL: 'manual',
}

export const selectSubscribed = statement((db) =>
  db
    .select({ id: contacts.id })
    .from(contacts)
    .where(
      sql`${contacts.projectId} = ${parameter('projectId')}
        and ${contacts.email} in (select value from json_each(${parameter('emails')}))
        and ${contacts.subscribed} = 1`,
    ),
)

type NewSuppressions = {
  projectId: string
  addresses: readonly ParsedAddress[]
  reason: SuppressionReason
}

/** All of them or, where that fails, none. */
export async function addSuppressions(
  { store, now }: Pick<Core, 'store' | 'now'>,
  { projectId, addresses, reason }: NewSuppressions,
): Promise<AddedSuppressions> {
  const emails = [...new Set(addresses.map(({ address }) => address))]
  const at = now()
  const added = await store.write(async (tx) => {
    let count = 0
    for (const email of emails) {
      const entry = { projectId, email, reason, source: 'API', emailId: null, at }
      if (await suppress(tx, entry)) count += 1
    }
    await unsubscribe(tx, { projectId, emails, reason: subscriptionReasons[reason], at })
    return count
  })
  return { added, existing: emails.length - added }
}

async function unsubscribe(
  tx: Tx,
  {
    projectId,
    emails,
    reason,
    at,
  }: { projectId: string; emails: readonly string[]; reason: SubscriptionReason; at: number },
): Promise<void> {
  const subscribed = await tx.list(selectSubscribed, { projectId, emails: JSON.stringify(emails) })
  for (const { id } of subscribed) {
    await setSubscribed(tx, id, { subscribed: false, reason, emailId: null, at })
  }
}
