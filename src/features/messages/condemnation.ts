/** That an address will not work, and why: what its suppression is made of. */
import type { SuppressionReason } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { setSubscribed } from '../contacts/upsert.ts'
import { suppress } from './suppression.ts'

export type Condemnation = {
  projectId: string
  contactId: string
  email: string
  /** In A-labels. */
  domain: string
  reason: Extract<SuppressionReason, 'HARD_BOUNCE' | 'STRIKES'>
  /** For people, one line. */
  source: string
  /** The email that bounced. */
  emailId: string
  at: number
}

/** Suppresses the address and unsubscribes the contact. Whether it was not on the list. */
export async function suppressCondemned(tx: Tx, condemnation: Condemnation): Promise<boolean> {
  const { projectId, contactId, email, reason, source, emailId, at } = condemnation
  const isNew = await suppress(tx, { projectId, email, reason, source, emailId, at })
  await setSubscribed(tx, contactId, { subscribed: false, at, reason: 'bounce', emailId })
  return isNew
}
