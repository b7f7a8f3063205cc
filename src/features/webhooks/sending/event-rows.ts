/**
 * Reads the events of deliveries, with what their payloads show: the contact, the base data of the email,
 * and the beginning of received mail.
 */
import { listOf, startsWith } from '../../../store/dialect.ts'
import { eq, getTableColumns, sql } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { type EventRow, events } from '../../../store/schema/events.ts'
import { contents, emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import type { EventEmail } from '../../events/email-data.ts'
import type { ReceivedContent } from '../../events/received-content.ts'

/** Characters of a received body that are read: at least as many octets. */
export const MAX_RECEIVED_BYTES = 256 * 1024

export type SentContact = {
  id: string
  address: string
  subscribed: boolean
  data: Record<string, unknown> | null
}

export type SentEvent = {
  event: EventRow
  contact: SentContact | null
  email: EventEmail | null
  /** For `email.received`; null once retention has cleared it. */
  received: ReceivedContent | null
}

const emailColumns = {
  id: emails.id,
  subject: emails.subject,
  fromAddress: emails.fromAddress,
  fromName: emails.fromName,
  messageId: emails.messageId,
  templateId: emails.templateId,
  campaignId: emails.campaignId,
  sourceType: emails.sourceType,
  sentAt: emails.sentAt,
  deliveredAt: emails.deliveredAt,
  openedAt: emails.openedAt,
  clickedAt: emails.clickedAt,
  bouncedAt: emails.bouncedAt,
  complainedAt: emails.complainedAt,
} satisfies Record<keyof EventEmail, unknown>

const selectEvents = statement((db) =>
  db
    .select({
      event: getTableColumns(events),
      contact: {
        id: contacts.id,
        address: contacts.address,
        subscribed: contacts.subscribed,
        data: contacts.data,
      },
      email: emailColumns,
    })
    .from(events)
    .leftJoin(contacts, eq(contacts.id, events.contactId))
    .leftJoin(
      emails,
      sql`${emails.id} = ${events.emailId} and ${startsWith(events.name, 'email.')}`,
    )
    .where(sql`${events.seq} in ${listOf(parameter('seqs'))}`),
)

const selectReceived = statement<{ body: string | null; isText: number; text: string | null }>(
  () => sql`select substr(${contents.body}, 1, ${MAX_RECEIVED_BYTES + 1}) as body,
      ${contents.isText} as "isText",
      substr(${contents.text}, 1, ${MAX_RECEIVED_BYTES + 1}) as text
    from ${emails} join ${contents} on ${contents.id} = ${emails.contentId}
    where ${emails.id} = ${parameter('emailId')}`,
)

/** Returns the events by `seq`; deleted ones are left out. */
export async function readEvents(
  { store }: Pick<Base, 'store'>,
  seqs: readonly number[],
): Promise<Map<number, SentEvent>> {
  const rows = await store.read.list(selectEvents, { seqs: JSON.stringify(seqs) })
  const found = new Map<number, SentEvent>()
  for (const row of rows) {
    const { event } = row
    const isReceived = event.name === 'email.received' && event.emailId !== null
    const received = isReceived
      ? await store.read.find(selectReceived, { emailId: event.emailId })
      : undefined
    const content = received && { ...received, isText: received.isText === 1 }
    found.set(event.seq, { ...row, received: content ?? null })
  }
  return found
}
