/**
 * Mail to an unsubscribe address, which only the List-Unsubscribe field of one email names
 * (RFC 2369): whoever writes to it wishes to get no more, whatever the text says, and however old
 * the email is.
 *
 * Bounces and replies of machines are no wish. Mail programs that unsubscribe for their reader call
 * theirs automatic, too (Apple Mail does, as `auto-replied`, with a mark that reads as a complaint
 * of type `opt-out`): what answers no message and asks for it in its subject is obeyed.
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
  if (!isWish({ row, parsed })) return ignore('not a wish but a machine', emailId)
  return unsubscribe(deps, tx, emailId)
}

/** Whoever got this email wishes to get no more. */
export async function unsubscribe(deps: ApplyDeps, tx: Tx, emailId: string): Promise<Effect> {
  const email = await tx.find(findContact, { id: emailId })
  if (email === undefined) return ignore('the email is gone', emailId)
  const page = { contactId: email.contactId, emailId }
  const isFlip = await applySubscriptionRequest(deps, tx, {
    page,
    subscribed: false,
    reason: 'mail',
  })
  return isFlip ? { did: 'unsubscribed', emailId } : ignoreKnown(emailId)
}

function isWish({ row, parsed }: ReceivedMessage): boolean {
  const { report, header } = parsed
  if (row.reversePath === '' || report.kind === 'bounce') return false
  if (report.kind === 'complaint') return report.feedbackType === 'opt-out'
  if (report.kind === 'other' && !header.isAutoSubmitted) return true
  return header.answers.length === 0 && /^unsubscribe\b/i.test(header.subject)
}
