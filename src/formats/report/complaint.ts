/**
 * Reads complaints: feedback reports (RFC 5965, RFC 6650), messages returned without a report
 * (Microsoft's JMRP), and unsubscribe requests of Apple Mail. A person who writes about a complaint
 * makes none.
 */

import { decodeHeader } from '../parse/decode-text.ts'
import { type Entity, readText } from '../parse/entity.ts'
import { type Field, findField, listFields, readFields } from '../parse/fields.ts'
import { findAddress } from '../parse/find-address.ts'
import { isAnswer } from './message-kind.ts'
import { MAX_READ_RECIPIENTS } from './reported-recipient.ts'

type Complaint = {
  /** The type of the report (RFC 5965 section 3.1), in lower case. */
  feedbackType: string
  /** The recipients in the order of the report; a removed address is ''. */
  recipients: string[]
  /** The header fields of the feedback report. */
  fields: Field[]
}

/**
 * The types of feedback reports that are no complaints: "this is not spam" (RFC 6430), a failure of
 * DKIM or DMARC (RFC 6591), a virus.
 */
const NOT_COMPLAINTS = new Set(['not-spam', 'auth-failure', 'virus'])

/** The types of early feedback reports that ask for an unsubscription. */
const OPT_OUTS = new Set(['opt-out', 'opt-out-list'])

/** Fields of the returned message that name its recipient. */
const RECIPIENT_FIELDS = [
  'x-hmxmroriginalrecipient',
  'x-original-to',
  'delivered-to',
  'x-envelope-to',
  'to',
]

const COMPLAINT_SUBJECT =
  /complaint about (?:a )?message|(?:abuse|spam|feedback|junk|fbl) (?:report|complaint|notification)|e-?mail feedback report|spam complaint/i

/** Whether a report of this type means that the recipient does not want the mail. */
export function isComplaint(feedbackType: string | null): boolean {
  return feedbackType === null || !NOT_COMPLAINTS.has(feedbackType.toLowerCase())
}

/** Whether a report of this type asks for an unsubscription only. */
export function isOptOut(feedbackType: string | null): boolean {
  return feedbackType !== null && OPT_OUTS.has(feedbackType.toLowerCase())
}

/**
 * Undefined for a message that is no complaint. `isReport`: the message itself may be a report
 * (`message-kind.ts`).
 */
export function readComplaint(
  entities: readonly Entity[],
  { isReport }: { isReport: boolean },
): Complaint | undefined {
  const report = !isReport
    ? undefined
    : entities.find(
        ({ type, level }) => level === 0 && /^message\/(?:x-)?feedback-report$/.test(type),
      )
  if (report !== undefined)
    return readFeedback(entities, readFields(readText(report).replace(/^\s*\n/, '')))
  return readFreeForm(entities, isReport)
}

function readFeedback(entities: readonly Entity[], fields: Field[]): Complaint {
  const reported = listFields(fields, 'original-rcpt-to').concat(
    listFields(fields, 'removal-recipient'),
  )
  const recipients = reported.slice(0, MAX_READ_RECIPIENTS).map((value) => findAddress(value) ?? '')
  const type = findField(fields, 'feedback-type')?.trim().toLowerCase().slice(0, 60)
  return {
    feedbackType: type === undefined || type === '' ? 'abuse' : type,
    recipients: recipients.length > 0 ? recipients : [findReached(entities)],
    fields,
  }
}

function readFreeForm(entities: readonly Entity[], isReport: boolean): Complaint | undefined {
  const [root] = entities
  if (root === undefined) return undefined
  const isUnsubscribe = /^true$/i.test(findField(root.fields, 'x-apple-unsubscribe') ?? '')
  if (isUnsubscribe) {
    const from = findAddress(findField(root.fields, 'from') ?? '') ?? ''
    return { feedbackType: 'opt-out', recipients: [from], fields: [] }
  }
  const hasMessage = entities.some(({ level }) => level > 0)
  const returned = entities.filter(({ level }) => level === 1).flatMap(({ fields }) => fields)
  const isTyped = /report-type\s{0,9}=\s{0,9}"?feedback-report/i.test(root.contentType)
  const subject = decodeHeader(findField(root.fields, 'subject') ?? '')
  const isNamed = !isAnswer(subject) && COMPLAINT_SUBJECT.test(subject)
  const isJmrp = findField(returned, 'x-hmxmroriginalrecipient') !== undefined
  // If somebody wrote words above the returned message, a person sent it.
  const isBare = !entities.some(isOwnText)
  const isReturn = (isNamed && isReport) || ((isNamed || isJmrp) && isBare)
  if (!isTyped && !(hasMessage && isReturn)) return undefined
  return { feedbackType: 'abuse', recipients: [findReached(entities)], fields: [] }
}

function isOwnText(entity: Entity): boolean {
  const isText = entity.type === 'text/plain' || entity.type === 'text/html'
  return entity.level === 0 && isText && /\S/.test(readText(entity))
}

function findReached(entities: readonly Entity[]): string {
  const returned = entities.filter(({ level }) => level > 0).flatMap(({ fields }) => fields)
  const values = RECIPIENT_FIELDS.map((name) => findField(returned, name))
  return values.map((value) => findAddress(value ?? '')).find(Boolean) ?? ''
}
