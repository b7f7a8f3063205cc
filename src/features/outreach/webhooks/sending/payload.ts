/**
 * The body of a webhook: `{type, timestamp, data}`. `data` is the event as `GET /events` shows it, with
 * its contact. Only received mail has a body, up to 256 KB. The same event gives the same `type`
 * and `timestamp` in each attempt; contact and email are shown as they are when it is sent.
 */
import { formatInstant } from '../../../../base/clock.ts'
import type { ReceivedContent } from '../../../ground/events/received-content.ts'
import { toEventRecord } from '../../../ground/events/view.ts'
import { MAX_RECEIVED_BYTES, type SentContact, type SentEvent } from './event-rows.ts'

export const TEST_EVENT = 'webhook.test'

export function eventPayload({ event, contact, email, received }: SentEvent): string {
  const cut = received === null ? null : cutContent(received)
  const view = toEventRecord(event, email === null ? null : { ...email, received: cut })
  return JSON.stringify({
    type: event.name,
    timestamp: formatInstant(event.createdAt),
    data: {
      ...view,
      ...(isCut(received) ? { isBodyTruncated: true } : {}),
      contact: toContact(contact),
    },
  })
}

/** Returns the body of a test delivery, which has no stored event. */
export function testPayload(test: {
  id: string
  projectId: string
  endpointId: string
  at: number
}): string {
  const { id, projectId, endpointId, at } = test
  const data = { endpointId, message: 'A test of this endpoint' }
  const event = { id, name: TEST_EVENT, data, projectId, contactId: null, emailId: null }
  const createdAt = formatInstant(at)
  return JSON.stringify({
    type: TEST_EVENT,
    timestamp: createdAt,
    data: { ...event, createdAt, contact: null },
  })
}

function toContact(contact: SentContact | null) {
  if (contact === null) return null
  const { id, address, subscribed, data } = contact
  return { id, email: address, subscribed, data }
}

function isCut(content: ReceivedContent | null): boolean {
  return [content?.body, content?.text].some((text) => isLong(text ?? ''))
}

function isLong(text: string): boolean {
  return Buffer.byteLength(text) > MAX_RECEIVED_BYTES
}

function cutContent({ body, isText, text }: ReceivedContent): ReceivedContent {
  return { body: cutText(body), isText, text: cutText(text) }
}

/** The longest beginning of a text that fits, in whole characters. */
function cutText(text: string | null): string | null {
  if (text === null || !isLong(text)) return text
  const bytes = Buffer.from(text).subarray(0, MAX_RECEIVED_BYTES)
  return bytes.toString('utf8').replace(/\uFFFD$/, '')
}
