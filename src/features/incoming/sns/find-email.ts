/**
 * Finds the email that a notification is about, and finds out whether a complaint is only a wish to
 * leave.
 */
import { isComplaint, isOptOut } from '../../../formats/report/complaint.ts'
import type { EmailToken } from '../../../formats/signed-tokens.ts'
import type { RowOf } from '../../../store/database.ts'
import { and, desc, eq, ne, sql } from '../../../store/drizzle.ts'
import { isUuid } from '../../../store/ids.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { readOwnTokens } from '../receiving/process/own-mail.ts'
import { isBy, type MessageIds, type ReceivedMail, type SesNotification } from './notification.ts'

const columns = { id: emails.id, recipient: emails.recipient, state: emails.state }

export const findReportedByProviderId = statement((db) =>
  db
    .select(columns)
    .from(emails)
    .where(eq(emails.providerId, parameter('providerId')))
    .orderBy(desc(emails.createdAt))
    .limit(1),
)

/** SQL: the email is not received mail. Received mail has Message-IDs of other senders. */
const isSent = ne(emails.sourceType, 'INBOUND')

const findOwn = statement((db) =>
  db
    .select(columns)
    .from(emails)
    .where(
      and(eq(emails.id, parameter('id')), eq(emails.messageId, parameter('messageId')), isSent),
    ),
)

/** Finds the email by its Message-ID. The second condition is that of the partial index. */
export const findReportedByMessageId = statement((db) =>
  db
    .select(columns)
    .from(emails)
    .where(
      and(
        eq(emails.messageId, parameter('messageId')),
        sql`substr(${emails.messageId}, 1, 36) <> ${emails.id}`,
        isSent,
      ),
    )
    .orderBy(desc(emails.createdAt))
    .limit(1),
)

export type SesEmail = RowOf<typeof findReportedByProviderId>

/**
 * Finds the email by the id that SES gave it, else by its Message-ID. Returns undefined when no
 * sent email has one of these ids.
 */
export async function findReportedEmail(
  { store }: Pick<Base, 'store'>,
  { providerIds, messageIds }: MessageIds,
): Promise<SesEmail | undefined> {
  for (const providerId of providerIds) {
    const email = await store.read.find(findReportedByProviderId, { providerId })
    if (email !== undefined) return email
  }
  for (const messageId of messageIds) {
    const id = messageId.slice(0, 36)
    const email =
      (isUuid(id) ? await store.read.find(findOwn, { id, messageId }) : undefined) ??
      (await store.read.find(findReportedByMessageId, { messageId }))
    if (email !== undefined) return email
  }
  return undefined
}

export type ReportedWish = { email: EmailToken; reason: 'mail' | 'complaint' }

/**
 * Returns the wish of a complaint that is nothing else, as with complaints by SMTP: a report of the
 * type opt-out, or a complaint about a deleted email. `email`: undefined when the email does not
 * exist.
 */
export function findWish(
  deps: Pick<Base, 'keyring'>,
  notification: Exclude<SesNotification, ReceivedMail>,
  email: SesEmail | undefined,
): ReportedWish | undefined {
  if (notification.kind !== 'complaint' || !isComplaint(notification.feedbackType)) return undefined
  const isLeaving = isOptOut(notification.feedbackType)
  const reason = isLeaving ? 'mail' : 'complaint'
  if (email === undefined) {
    const deleted = findDeleted(deps, notification.ids)
    return deleted && { email: deleted, reason }
  }
  if (!isLeaving || !isBy(notification, email.recipient)) return undefined
  return { email: { emailId: email.id }, reason }
}

/**
 * Finds a deleted email by the token in the message, which has the digest of the address; without a
 * token, by our Message-ID.
 */
function findDeleted(
  deps: Pick<Base, 'keyring'>,
  { tokens, messageIds }: MessageIds,
): EmailToken | undefined {
  const [signed] = readOwnTokens(deps, tokens)
  if (signed !== undefined) return signed
  const ids = messageIds.filter((id) => id[36] === '@').map((id) => id.slice(0, 36))
  const emailId = ids.find(isUuid)
  return emailId === undefined ? undefined : { emailId }
}
