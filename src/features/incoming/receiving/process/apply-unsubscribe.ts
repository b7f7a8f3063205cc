/**
 * Applies mail to an unsubscribe address. Only the List-Unsubscribe field of one email has that
 * address (RFC 2369), so any message from a person to it unsubscribes, regardless of its text and
 * of the age of the email.
 *
 * Bounces and automatic replies do not unsubscribe. Mail programs that unsubscribe for their user
 * mark their message as automatic, too: Apple Mail sends `auto-replied` and a part that reads as a
 * complaint of type `opt-out`. An automatic message therefore counts when it answers no message and
 * its subject says "unsubscribe".
 */
import type { EmailToken } from '../../../../formats/signed-tokens.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { applySubscriptionRequest } from '../../../people/contacts/write/subscription-request.ts'
import { type ApplyDeps, type Effect, ignore, ignoreKnown, type ReceivedMessage } from './effect.ts'

export async function applyUnsubscribe(
  deps: ApplyDeps,
  tx: Tx,
  { row, parsed, email }: ReceivedMessage & { email: EmailToken },
): Promise<Effect> {
  if (!asksToUnsubscribe({ row, parsed })) return ignore('an automatic message', email.emailId)
  return leaveByMail(deps, tx, { email, reason: 'mail' })
}

/** Unsubscribes the address to which the email of the token went, and its contact. */
export async function leaveByMail(
  deps: ApplyDeps,
  tx: Tx,
  { email, reason }: { email: EmailToken; reason: 'mail' | 'complaint' },
): Promise<Effect> {
  const { emailId, digest } = email
  const link = { contactId: undefined, emailId, digest }
  const isChanged = await applySubscriptionRequest(deps, tx, { link, subscribed: false, reason })
  if (isChanged === undefined) return ignore('the email has been deleted', emailId)
  return isChanged ? { did: 'unsubscribed', emailId } : ignoreKnown(emailId)
}

function asksToUnsubscribe({ row, parsed }: ReceivedMessage): boolean {
  const { report, header } = parsed
  if (row.reversePath === '' || report.kind === 'bounce') return false
  if (report.kind === 'complaint') return report.feedbackType === 'opt-out'
  if (report.kind === 'other' && !header.isAutoSubmitted) return true
  return header.answers.length === 0 && /^unsubscribe\b/i.test(header.subject)
}
