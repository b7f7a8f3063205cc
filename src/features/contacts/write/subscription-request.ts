/**
 * A recipient subscribes or unsubscribes through something that this server signed: a hosted page,
 * one click in a mail program, a public contact call, a mail to an unsubscribe address. The request
 * takes effect at once, also in a disabled project; repeating it changes nothing.
 *
 * Subscribing does not remove an address from the suppression list. A contact that bounced or
 * complained may subscribe, and still gets no mail until the project removes the suppression.
 */
import type { PageToken } from '../../../mail/signed-tokens.ts'
import { sql } from '../../../store/drizzle.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { findPublicContact, type PublicContact } from '../read/public-contact.ts'
import { type SubscriptionReason, setSubscribed } from './set-subscribed.ts'
import { findUnrecordedWish } from './unsubscribe-wish.ts'

export type SubscriptionRequest = {
  subscribed: boolean
  reason: SubscriptionReason
  /** The unverified id of the email that led to the page (`?e=`); preferred to the id in the token. */
  statedEmailId?: string | undefined
}

const selectEmail = statement((db) =>
  db
    .select({ id: emails.id, campaignId: emails.campaignId })
    .from(emails)
    .where(
      sql`${emails.id} in (${parameter('stated')}, ${parameter('own')})
        and ${emails.contactId} = ${parameter('contactId')}`,
    )
    .orderBy(sql`${emails.id} = ${parameter('stated')} desc`)
    .limit(1),
)

/**
 * Returns the contact after the request; undefined when it no longer exists. A change emits
 * `contact.subscribed` or `contact.unsubscribed` with the reason and, if the email belongs to the
 * contact, the email that led to the request and its campaign.
 * @throws AppError DATABASE_ERROR when the request could not be stored
 */
export async function changeSubscription(
  deps: Pick<Base, 'store' | 'now'>,
  page: PageToken,
  request: SubscriptionRequest,
): Promise<PublicContact | undefined> {
  const known = await findPublicContact(deps, page.contactId)
  if (known === undefined) return undefined
  // A repeated request costs no transaction: links are followed more than once.
  const isRepeated = known.subscribed === request.subscribed
  if (isRepeated && !(await hasUnrecordedWish(deps, page, request))) return known
  await deps.store.write((tx) => applySubscriptionRequest(deps, tx, { ...request, page }))
  return findPublicContact(deps, page.contactId)
}

/** Whether a bounce unsubscribed the contact, and this is the contact's first own request. */
async function hasUnrecordedWish(
  { store }: Pick<Base, 'store'>,
  { contactId }: PageToken,
  { subscribed }: SubscriptionRequest,
): Promise<boolean> {
  if (subscribed) return false
  return (await store.read.find(findUnrecordedWish, { contactId })) !== undefined
}

/** `changeSubscription` within a transaction. Returns whether `subscribed` changed. */
export async function applySubscriptionRequest(
  { now }: Pick<Base, 'now'>,
  tx: Tx,
  { page, subscribed, reason, statedEmailId }: SubscriptionRequest & { page: PageToken },
): Promise<boolean> {
  const { contactId } = page
  const own = page.emailId ?? null
  const email = await tx.find(selectEmail, { contactId, own, stated: statedEmailId ?? own })
  return setSubscribed(tx, contactId, {
    subscribed,
    reason,
    emailId: email?.id ?? null,
    campaignId: email?.campaignId ?? null,
    at: now(),
  })
}
