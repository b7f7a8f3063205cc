/**
 * What a recipient wishes, said through something that we signed: a hosted page, one click in a
 * mail program, a public contact call, a mail to an unsubscribe address. It is obeyed at once and in
 * both directions, whether or not the project is disabled; saying it again changes nothing.
 *
 * Subscribing is no way off the suppression list: that is our refusal to send, not the contact's
 * wish. Someone who bounced or complained may subscribe, and still gets nothing until the project
 * takes the address off the list.
 */
import type { PageToken } from '../../../mail/signed-tokens.ts'
import { sql } from '../../../store/drizzle.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { findPublicContact, type PublicContact } from '../read/public-contact.ts'
import { findUnsaidWish } from './unsubscribe-wish.ts'
import { type SubscriptionReason, setSubscribed } from './upsert.ts'

export type Wish = {
  subscribed: boolean
  reason: SubscriptionReason
  /** The email that led there, by somebody's word (`?e=`): it goes before the token's. */
  claimedEmailId?: string | undefined
}

const selectEmail = statement((db) =>
  db
    .select({ id: emails.id, campaignId: emails.campaignId })
    .from(emails)
    .where(
      sql`${emails.id} in (${parameter('claimed')}, ${parameter('own')})
        and ${emails.contactId} = ${parameter('contactId')}`,
    )
    .orderBy(sql`${emails.id} = ${parameter('claimed')} desc`)
    .limit(1),
)

/**
 * The contact as it is then; undefined when there is none. A flip emits `contact.subscribed` or
 * `contact.unsubscribed` with the reason and, when it is one of the contact's, the email that led
 * there and its campaign. @throws AppError DATABASE_ERROR when the wish could not be kept
 */
export async function changeSubscription(
  deps: Pick<Base, 'store' | 'now'>,
  page: PageToken,
  wish: Wish,
): Promise<PublicContact | undefined> {
  const known = await findPublicContact(deps, page.contactId)
  if (known === undefined) return undefined
  // A repeated wish costs no transaction: links get called more than once.
  if (known.subscribed === wish.subscribed && !(await isUnsaid(deps, page, wish))) return known
  await deps.store.write((tx) => recordWish(deps, tx, { ...wish, page }))
  return findPublicContact(deps, page.contactId)
}

/** Whether a verdict of ours unsubscribed the contact, and the contact has not said so itself yet. */
async function isUnsaid(
  { store }: Pick<Base, 'store'>,
  { contactId }: PageToken,
  { subscribed }: Wish,
): Promise<boolean> {
  if (subscribed) return false
  return (await store.read.find(findUnsaidWish, { contactId })) !== undefined
}

/** `changeSubscription` within a transaction; whether it was a change. */
export async function recordWish(
  { now }: Pick<Base, 'now'>,
  tx: Tx,
  { page, subscribed, reason, claimedEmailId }: Wish & { page: PageToken },
): Promise<boolean> {
  const { contactId } = page
  const own = page.emailId ?? null
  const email = await tx.find(selectEmail, { contactId, own, claimed: claimedEmailId ?? own })
  return setSubscribed(tx, contactId, {
    subscribed,
    reason,
    emailId: email?.id ?? null,
    campaignId: email?.campaignId ?? null,
    at: now(),
  })
}
