/**
 * Reads the events of deliveries with the contact and the base data of the email that their
 * payloads show. The beginning of received mail is read only when its event is sent.
 */
import type { Statement } from '../../../../store/database.ts'
import { listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { contacts } from '../../../../store/schema/contacts.ts'
import { type EventRow, events } from '../../../../store/schema/events.ts'
import { contents, emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { type EventEmail, eventEmailColumns } from '../../../ground/events/email-data.ts'
import type { ReceivedContent } from '../../../ground/events/received-content.ts'

/** Characters of a received body that are read: at least as many octets. */
export const MAX_RECEIVED_BYTES = 256 * 1024

export type SentContact = {
  id: string
  address: string
  subscribed: boolean
  data: Record<string, unknown> | null
}

/**
 * An event that waits to be sent. The body of received mail is not read yet: it would fill the
 * memory.
 */
export type WaitingEvent = {
  event: EventRow
  contact: SentContact | null
  email: EventEmail | null
}

export type SentEvent = WaitingEvent & {
  /** For `email.received`; null once retention has cleared it. */
  received: ReceivedContent | null
}

const selectEvents = statement((db) =>
  db
    .select()
    .from(events)
    .where(sql`${events.seq} in ${listOf(parameter('seqs'))}`),
)

const selectContacts = statement((db) =>
  db
    .select({
      id: contacts.id,
      address: contacts.address,
      subscribed: contacts.subscribed,
      data: contacts.data,
    })
    .from(contacts)
    .where(sql`${contacts.id} in ${listOf(parameter('ids'))}`),
)

const selectEmails = statement((db) =>
  db
    .select(eventEmailColumns)
    .from(emails)
    .where(sql`${emails.id} in ${listOf(parameter('ids'))}`),
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
): Promise<Map<number, WaitingEvent>> {
  const rows = await store.read.list(selectEvents, { seqs: JSON.stringify(seqs) })
  const contactIds = rows.flatMap(({ contactId }) => contactId ?? [])
  const emailIds = rows.flatMap((event) => emailIdOf(event) ?? [])
  const contactOf = await readByIds(store, selectContacts, contactIds)
  const emailOf = await readByIds(store, selectEmails, emailIds)
  return new Map(
    rows.map((event) => {
      const contact = contactOf.get(event.contactId ?? '') ?? null
      const email = emailOf.get(emailIdOf(event) ?? '') ?? null
      return [event.seq, { event, contact, email }]
    }),
  )
}

/** Returns the id of the email that the event's payload shows; null for none. */
function emailIdOf({ name, emailId }: EventRow): string | null {
  return name.startsWith('email.') ? emailId : null
}

async function readByIds<Row extends { id: string }>(
  { read }: Base['store'],
  rowsOf: Statement<Row>,
  ids: readonly string[],
): Promise<Map<string, Row>> {
  if (ids.length === 0) return new Map()
  const rows = await read.list(rowsOf, { ids: JSON.stringify([...new Set(ids)]) })
  return new Map(rows.map((row) => [row.id, row]))
}

export function isReceivedMail({ name, emailId }: Pick<EventRow, 'name' | 'emailId'>): boolean {
  return name === 'email.received' && emailId !== null
}

/** Reads the received mail that is sent with the event, if there is any. */
export async function readContent(
  { store }: Pick<Base, 'store'>,
  waiting: WaitingEvent,
): Promise<SentEvent> {
  const { emailId } = waiting.event
  if (!isReceivedMail(waiting.event)) return { ...waiting, received: null }
  const found = await store.read.find(selectReceived, { emailId })
  const received = found === undefined ? null : { ...found, isText: found.isText === 1 }
  return { ...waiting, received }
}
