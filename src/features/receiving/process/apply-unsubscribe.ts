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
import { eq } from '../../../store/drizzle.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { applySubscriptionRequest } from '../../contacts/write/subscription-request.ts'
import { type ApplyDeps, type Effect, ignore, ignoreKnown, type ReceivedMessage } from './effect.ts'

const findContact = statement((db) =>
  db
    .select({ contactId: emails.contactId })
    .from(emails)
    .where(eq(emails.id, parameter('id'))),
)

export async function applyUnsubscribe(
  deps: ApplyDeps,
  tx: Tx,
  { row, parsed, emailId }: ReceivedMessage & { emailId: string },
): Promise<Effect> {
  if (!asksToUnsubscribe({ row, parsed })) return ignore('an automatic message', emailId)
  return unsubscribeContactOf(deps, tx, emailId)
}

/** Unsubscribes the contact of this email. */
export async function unsubscribeContactOf(
  deps: ApplyDeps,
  tx: Tx,
  emailId: string,
): Promise<Effect> {
  const email = await tx.find(findContact, { id: emailId })
  if (email === undefined) return ignore('the email has been deleted', emailId)
  const page = { contactId: email.contactId, emailId }
  const isChanged = await applySubscriptionRequest(deps, tx, {
    page,
    subscribed: false,
    reason: 'mail',
  })
  return isChanged ? { did: 'unsubscribed', emailId } : ignoreKnown(emailId)
}

function asksToUnsubscribe({ row, parsed }: ReceivedMessage): boolean {
  const { report, header } = parsed
  if (row.reversePath === '' || report.kind === 'bounce') return false
  if (report.kind === 'complaint') return report.feedbackType === 'opt-out'
  if (report.kind === 'other' && !header.isAutoSubmitted) return true
  return header.answers.length === 0 && /^unsubscribe\b/i.test(header.subject)
}
