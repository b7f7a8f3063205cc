/**
 * Reads Amazon SES notifications that an SNS topic forwards as mail: JSON in the text, with or
 * without the envelope of SNS. https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html
 */
import { findAddress } from '../parse/find-address.ts'
import { MAX_READ_RECIPIENTS, type ReportedAction } from './reported-recipient.ts'

export type SesNotice =
  | { type: 'delivery'; reportingMta: string | null; recipients: SesRecipient[] }
  | { type: 'complaint'; feedbackType: string; recipients: string[] }

type SesRecipient = {
  recipient: string
  action: ReportedAction
  status: string | null
  diagnostic: string
}

type Json = Record<string, unknown>

const MAX_LENGTH = 60_000
/** The subtype of a bounce -> the diagnostic to assume. */
const DIAGNOSTICS: ReadonlyMap<string, string> = new Map([
  ['MailboxFull', 'mailbox full'],
  ['MessageTooLarge', 'message too large'],
  ['ContentRejected', 'content rejected'],
  ['AttachmentRejected', 'attachment not allowed'],
  ['NoEmail', 'no such user'],
  ['Suppressed', 'Amazon SES suppression list'],
])

export function readSesNotice(text: string): SesNotice | undefined {
  if (!/"(?:notificationType|eventType)\\?"|\\"(?:notificationType|eventType)/.test(text))
    return undefined
  const notice = unwrap(parseObject(text))
  const kind = string(notice?.notificationType ?? notice?.eventType)
  if (notice === undefined) return undefined
  if (kind === 'Complaint') return readComplaint(record(notice.complaint))
  if (kind === 'Bounce') return readBounce(record(notice.bounce))
  if (kind === 'Delivery') return readDelivery(record(notice.delivery))
  return undefined
}

function readBounce(bounce: Json): SesNotice {
  const isTransient = bounce.bounceType === 'Transient'
  const recipients = records(bounce.bouncedRecipients).map((one) => ({
    recipient: findAddress(string(one.emailAddress)) ?? '',
    action: 'failed' as const,
    status: /^[245]\.\d{1,3}\.\d{1,3}$/.exec(string(one.status))?.[0] ?? null,
    diagnostic:
      string(one.diagnosticCode).replace(/^\s*[\w-]{1,20}\s*;\s*/, '') ||
      guessDiagnostic(bounce, isTransient),
  }))
  return { type: 'delivery', reportingMta: mtaOf(bounce), recipients }
}

/** The diagnostic for a bounce that has only a type, because Amazon itself refused the mail. */
function guessDiagnostic(bounce: Json, isTransient: boolean): string {
  return DIAGNOSTICS.get(string(bounce.bounceSubType)) ?? (isTransient ? 'temporary failure' : '')
}

function readDelivery(delivery: Json): SesNotice {
  const diagnostic = string(delivery.smtpResponse)
  const status = /2\.\d{1,3}\.\d{1,3}/.exec(diagnostic)?.[0] ?? null
  const addresses = Array.isArray(delivery.recipients) ? delivery.recipients : []
  const recipients = addresses.slice(0, MAX_READ_RECIPIENTS).map((address) => ({
    recipient: findAddress(string(address)) ?? '',
    action: 'delivered' as const,
    status,
    diagnostic,
  }))
  return { type: 'delivery', reportingMta: mtaOf(delivery), recipients }
}

function readComplaint(complaint: Json): SesNotice {
  const recipients = records(complaint.complainedRecipients).map(
    (one) => findAddress(string(one.emailAddress)) ?? '',
  )
  const feedbackType = string(complaint.complaintFeedbackType).toLowerCase() || 'abuse'
  return { type: 'complaint', feedbackType, recipients }
}

function mtaOf(part: Json): string | null {
  return string(part.reportingMTA).replace(/^\s*[\w-]{1,20}\s*;\s*/, '') || null
}

/**
 * Parses the JSON in a text. Some mail systems break long lines with `!`, a line end and a space.
 */
function parseObject(text: string): Json | undefined {
  const joined = text.slice(0, MAX_LENGTH).replace(/!\n[ \t]/g, '')
  const start = joined.indexOf('{')
  if (start === -1) return undefined
  const end = joined.lastIndexOf('}')
  return parseJson(joined.slice(start, end + 1))
}

function parseJson(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

function unwrap(outer: Json | undefined): Json | undefined {
  return typeof outer?.Message === 'string' ? parseJson(outer.Message) : outer
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function record(value: unknown): Json {
  return isRecord(value) ? value : {}
}

function records(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isRecord).slice(0, MAX_READ_RECIPIENTS) : []
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
