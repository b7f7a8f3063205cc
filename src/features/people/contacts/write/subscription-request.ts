/**
 * A recipient subscribes or unsubscribes through something that this server signed: a hosted page,
 * one click in a mail program, a public contact call, a mail to an unsubscribe address. The request
 * takes effect at once, also in a disabled project; repeating it changes nothing. It is a wish for the
 * addresses that the link stands for (`read/link-subject.ts`), whether or not a contact has them.
 *
 * Subscribing does not remove an address from the suppression list. A contact that bounced or
 * complained may subscribe, and still gets no mail until the project removes the suppression.
 */
import { sql } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { clearDigest, isMatchedBy, recordDigest } from '../../wishes/wishes.ts'
import { findLinkSubject, type LinkSubject, type SignedLink } from '../read/link-subject.ts'
import { findPageContact, type PageContact } from '../read/public-contact.ts'
import { setSubscribed } from './set-subscribed.ts'

export type SubscriptionRequest = {
  subscribed: boolean
  reason: 'page' | 'one-click' | 'mail' | 'api' | 'complaint'
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
 * Returns what the page shows after the request; undefined when the link stands for nothing that is known. A
 * change emits `contact.subscribed` or `contact.unsubscribed` with the reason and, if the email belongs to the
 * contact, the email that led to the request and its campaign.
 * @throws AppError DATABASE_ERROR when the request could not be stored
 */
export async function changeSubscription(
  deps: Pick<Base, 'store' | 'config' | 'now'>,
  link: SignedLink,
  request: SubscriptionRequest,
): Promise<PageContact | undefined> {
  const shown = await findPageContact(deps, link)
  if (shown === undefined) return undefined
  // People follow a link more than once, so a repeated request costs no transaction.
  if (await isRepeated(deps, shown, link, request)) return shown
  await deps.store.write((tx) => applySubscriptionRequest(deps, tx, { ...request, link }))
  return findPageContact(deps, link)
}

async function isRepeated(
  { store }: Pick<Base, 'store'>,
  shown: PageContact,
  link: SignedLink,
  { subscribed }: SubscriptionRequest,
): Promise<boolean> {
  if (shown.subscribed !== subscribed) return false
  const subject = await findLinkSubject(store.read, link)
  return subject !== undefined && isMatchedBy(store.read, { ...subject, subscribed })
}

/**
 * `changeSubscription` within a transaction. Returns whether `subscribed` of a contact or a wish changed;
 * undefined when the link stands for nothing that is known.
 */
export async function applySubscriptionRequest(
  { now }: Pick<Base, 'now'>,
  tx: Tx,
  { link, ...request }: SubscriptionRequest & { link: SignedLink },
): Promise<boolean | undefined> {
  const subject = await findLinkSubject(tx, link)
  if (subject === undefined) return undefined
  const at = now()
  let isChanged = await applyWish(tx, subject, { ...request, at })
  for (const contactId of subject.contactIds) {
    const own = link.emailId ?? null
    const stated = request.statedEmailId ?? own
    const email = await tx.find(selectEmail, { contactId, own, stated })
    const { subscribed, reason } = request
    const attribution = { emailId: email?.id ?? null, campaignId: email?.campaignId ?? null }
    const change = { subscribed, reason, at, ...attribution }
    isChanged = (await setSubscribed(tx, contactId, change)) || isChanged
  }
  return isChanged
}

async function applyWish(
  tx: Tx,
  { projectId, digests }: LinkSubject,
  { subscribed, reason, at }: SubscriptionRequest & { at: number },
): Promise<boolean> {
  let isChanged = false
  for (const digest of digests) {
    const changed = subscribed
      ? await clearDigest(tx, digest)
      : await recordDigest(tx, { digest, projectId, kind: reason, at })
    isChanged = changed || isChanged
  }
  return isChanged
}
