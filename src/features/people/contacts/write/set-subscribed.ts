/**
 * The only place that changes `contacts.subscribed` of an existing contact. Each change emits
 * `contact.subscribed` or `contact.unsubscribed` in the same transaction, and a decision of the
 * person is recorded as a wish (`wishes/wishes.ts`).
 */
import { and, eq, sql } from '../../../../store/drizzle.ts'
import { type Contact, contacts } from '../../../../store/schema/contacts.ts'
import type { SuppressionReason } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { appendEvent } from '../../../ground/events/append.ts'
import {
  clearWishOfContact,
  endWishOfProjectForContact,
  recordWishOfContact,
  recordWishOfProject,
} from '../../wishes/wishes.ts'

/**
 * Why `subscribed` changed; the event shows it as `data.reason`.
 *
 * | reason                     | cause                                                            |
 * |----------------------------|------------------------------------------------------------------|
 * | page, one-click, mail      | the contact's wish: hosted page, RFC 8058, unsubscribe address   |
 * | api                        | public contact call, or a request of the project for one contact |
 * | manual                     | bulk job, or an operator who suppressed the address              |
 * | import                     | row of an imported file                                          |
 * | workflow                   | step UPDATE_CONTACT of a workflow                                |
 * | bounce, complaint          | the address bounced for good, or its owner complained            |
 */
export type SubscriptionReason =
  | 'page'
  | 'one-click'
  | 'mail'
  | 'api'
  | 'bounce'
  | 'complaint'
  | 'manual'
  | 'import'
  | 'workflow'

/** The subscription reason that follows from the reason of a suppression. */
export const REASON_OF_SUPPRESSION: Record<SuppressionReason, SubscriptionReason> = {
  HARD_BOUNCE: 'bounce',
  STRIKES: 'bounce',
  COMPLAINT: 'complaint',
  MANUAL: 'manual',
}

/** Changes that figures of mail count as a bounce or a complaint, and not as an unsubscription. */
export const COUNTED_OTHERWISE: ReadonlySet<unknown> = new Set<SubscriptionReason>([
  'bounce',
  'complaint',
])

/** The reasons of `setSubscribed` that are a decision of the person. */
const OWN_REASONS = new Set(['page', 'one-click', 'mail', 'api', 'complaint'] as const)
type OwnReason = typeof OWN_REASONS extends Set<infer Reason> ? Reason : never

type SubscriptionChange = {
  subscribed: boolean
  at: number
  reason: SubscriptionReason
  /** The email that led to the change, if any. */
  emailId: string | null
  /** The campaign that the change counts for. */
  campaignId?: string | null
}

/**
 * Finds the contact by its address, as the look-up before the change did: the pages of that index
 * are already cached.
 */
export const updateByAddress = statement((db) =>
  db
    .update(contacts)
    .set({
      data: parameter('data'),
      subscribed: parameter('subscribed'),
      updatedAt: parameter('updatedAt'),
    })
    .where(
      and(
        eq(contacts.projectId, parameter('projectId')),
        eq(contacts.address, parameter('address')),
      ),
    ),
)

const updateSubscribed = statement((db) =>
  db
    .update(contacts)
    .set({ subscribed: parameter('subscribed'), updatedAt: parameter('at') })
    .where(
      sql`${contacts.id} = ${parameter('id')} and ${contacts.subscribed} = ${parameter('from')}`,
    )
    .returning({ projectId: contacts.projectId }),
)

/**
 * Sets `subscribed` of one contact. The caller acts for a person, or changes many contacts one
 * after the other; here the reason `api` means a public contact call. Returns whether the value
 * changed; only a change emits an event.
 */
export async function setSubscribed(
  tx: Tx,
  contactId: string,
  change: SubscriptionChange,
): Promise<boolean> {
  const { subscribed, at, reason } = change
  const from = subscribed ? 0 : 1
  const changed = await tx.find(updateSubscribed, { id: contactId, subscribed, at, from })
  if (isOwnReason(reason)) {
    if (subscribed) await clearWishOfContact(tx, contactId)
    else await recordWishOfContact(tx, { contactId, kind: reason, at })
  }
  if (changed === undefined) {
    if (!subscribed && reason === 'manual') await recordWishOfProject(tx, { contactId, at })
    return false
  }
  if (subscribed && !isOwnReason(reason)) await endWishOfProjectForContact(tx, contactId)
  const contact = { id: contactId, projectId: changed.projectId, subscribed }
  await appendSubscriptionEvent(tx, contact, change)
  return true
}

function isOwnReason(reason: SubscriptionReason): reason is OwnReason {
  return OWN_REASONS.has(reason as OwnReason)
}

type ChangedContact = {
  before: Contact
  contact: Contact
  reason: SubscriptionReason
  /** The depth of the event, if an execution of a workflow makes the change. */
  depth?: number | undefined
}

/** Writes the data and `subscribed` of a contact. The address must be the stored one. */
export async function writeContact(
  tx: Tx,
  { before, contact, reason, depth }: ChangedContact,
): Promise<void> {
  await tx.execute(updateByAddress, contact)
  if (contact.subscribed === before.subscribed) return
  await appendSubscriptionEvent(tx, contact, { at: contact.updatedAt, reason, depth })
}

type SubscriptionCause = Pick<SubscriptionChange, 'at' | 'reason' | 'campaignId'> & {
  emailId?: string | null
  depth?: number | undefined
}

async function appendSubscriptionEvent(
  tx: Tx,
  contact: Pick<Contact, 'id' | 'projectId' | 'subscribed'>,
  { at, reason, emailId, campaignId, depth }: SubscriptionCause,
): Promise<void> {
  await appendEvent(tx, {
    projectId: contact.projectId,
    name: contact.subscribed ? 'contact.subscribed' : 'contact.unsubscribed',
    contactId: contact.id,
    emailId: emailId ?? null,
    data: { reason, ...(campaignId ? { campaignId } : {}) },
    at,
    depth,
  })
}
