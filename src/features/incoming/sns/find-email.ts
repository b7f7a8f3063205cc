/**
 * Finds the email that a notification is about: by the id that SES gave it, else by its Message-ID.
 */
import type { RowOf } from '../../../store/database.ts'
import { and, desc, eq, ne, sql } from '../../../store/drizzle.ts'
import { isUuid } from '../../../store/ids.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import type { MessageIds } from './notification.ts'

const columns = { id: emails.id, recipient: emails.recipient, state: emails.state }

export const findReportedByProviderId = statement((db) =>
  db
    .select(columns)
    .from(emails)
    .where(eq(emails.providerId, parameter('providerId')))
    .orderBy(desc(emails.createdAt))
    .limit(1),
)

/** Received mail has Message-IDs of other senders. */
const isSent = ne(emails.sourceType, 'INBOUND')

const findOwn = statement((db) =>
  db
    .select(columns)
    .from(emails)
    .where(
      and(eq(emails.id, parameter('id')), eq(emails.messageId, parameter('messageId')), isSent),
    ),
)

/** The second term is the condition of the partial index. */
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

export type ReportedEmail = RowOf<typeof findReportedByProviderId>

/** Returns undefined when no sent email has one of these ids. */
export async function findReportedEmail(
  { store }: Pick<Base, 'store'>,
  { providerIds, messageIds }: MessageIds,
): Promise<ReportedEmail | undefined> {
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
