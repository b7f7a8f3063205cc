/** An event as the API returns it; events of emails include data of the email. */
import { formatInstant } from '../../../base/clock.ts'
import type { EventRecord } from '../../../records/event.ts'
import type { EventRow } from '../../../store/schema/events.ts'
import { type EventEmail, emailEventData } from './email-data.ts'
import { type ReceivedContent, toReceivedData } from './received-content.ts'

export function toEventRecord(
  event: Omit<EventRow, 'seq'>,
  email?: EventViewEmail | null,
): EventRecord {
  const { id, name, projectId, contactId, emailId, createdAt } = event
  return {
    id,
    name,
    data: email && isOfEmail(name) ? dataOf(event, email) : event.data,
    projectId,
    contactId,
    emailId,
    createdAt: formatInstant(createdAt),
  }
}

/** `received`: the content of received mail. */
type EventViewEmail = EventEmail & { received: ReceivedContent | null }

function dataOf(event: Pick<EventRow, 'name' | 'data'>, { received, ...email }: EventViewEmail) {
  const data = emailEventData(event, email)
  return event.name === 'email.received' ? { ...data, ...toReceivedData(received) } : data
}

function isOfEmail(name: string): boolean {
  return name.startsWith('email.')
}
