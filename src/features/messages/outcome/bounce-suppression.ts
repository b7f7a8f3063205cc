/** Suppresses the address of an email that bounced. */
import { and, eq } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import type { SuppressionReason } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { setSubscribed } from '../../contacts/write/set-subscribed.ts'
import { suppress } from './suppression.ts'

export type BounceSuppression = {
  projectId: string
  contactId: string
  address: string
  /** In A-labels. */
  domain: string
  reason: Extract<SuppressionReason, 'HARD_BOUNCE' | 'STRIKES'>
  /** One line, for operators. */
  source: string
  /** The email that bounced. */
  emailId: string
  at: number
}

/** The contact may have another address by now: a suppression may have been held for days. */
const findContact = statement((db) =>
  db
    .select({ id: contacts.id })
    .from(contacts)
    .where(
      and(eq(contacts.id, parameter('contactId')), eq(contacts.address, parameter('address'))),
    ),
)

/**
 * Suppresses the address and unsubscribes the contact, unless the contact has another address by
 * now. Returns false if the address was suppressed already.
 */
export async function suppressBouncedAddress(
  tx: Tx,
  suppression: BounceSuppression,
): Promise<boolean> {
  const { projectId, contactId, address, reason, source, emailId, at } = suppression
  const isNew = await suppress(tx, { projectId, address, reason, source, emailId, at })
  if ((await tx.find(findContact, { contactId, address })) !== undefined) {
    await setSubscribed(tx, contactId, { subscribed: false, at, reason: 'bounce', emailId })
  }
  return isNew
}
