/**
 * The only MIME writer: a pure function from the parts of a message to the octets that are signed and
 * sent. The octets are one string with one character per octet, because nearly all of a message is
 * ASCII, and strings are joined and searched without copying.
 *
 *   mixed( alternative( text/plain, related( text/html, inline files… ), alternatives… ), files… )
 *
 * Levels with a single part are left out. A sealed body takes the place of all this, octet by octet.
 * Other bodies are always 7-bit, so 8BITMIME is not needed; so are
 * header fields, unless an address has a local part outside ASCII (RFC 6532). Every line ends in
 * CRLF, there is no other CR or LF, and no line is longer than 998 octets.
 */
import { MAX_WRITTEN_ID_LENGTH } from '../limits.ts'
import { createFieldMemo, type FieldMemo } from './field-memo.ts'
import { assertFieldName, assertOneLine, formatField, formatTextField } from './header-field.ts'
import { formatAddressField, formatMailboxField, type Mailbox } from './mailbox-field.ts'
import type { RecipientFields } from './message-content.ts'
import {
  type Attachment,
  attachmentPart,
  boundariesOf,
  type MimePart,
  multipart,
  type NextBoundary,
  sealedPart,
  textPart,
} from './mime-part.ts'
import type { EncodedText } from './text-body.ts'

export type MessageInput = {
  /** The message id without angle brackets. */
  messageId: string
  /** Epoch milliseconds. */
  date: number
  from: Mailbox
  to: Mailbox
  /** The fields To and Cc that replace a To field with `to`. */
  recipientFields?: RecipientFields | undefined
  replyTo: Mailbox | null
  subject: string
  /** Plain text or an encoded body. At least one of `html` and `text` is not null. */
  html: string | EncodedText | null
  text: string | EncodedText | null
  /** Further fields in order; a field replaces the generated field of the same name. */
  headers: readonly (readonly [name: string, value: string])[]
  attachments: readonly Attachment[]
}

/**
 * `octets`: the message, one character per octet. `needsSmtputf8`: the header section has octets
 * above 127, so the session needs SMTPUTF8 (RFC 6531).
 */
export type MimeMessage = { octets: string; needsSmtputf8: boolean }

/** Fields that only this writer sets; the API already refuses them. */
const OWNED_FIELD = /^(?:date|from|to|mime-version|content-.*)$/i

/**
 * Fields that occur at most once (RFC 5322 section 3.6, RFC 2369, RFC 8058). Of several, only the
 * last is written.
 */
const SINGLE_FIELD = /^(?:subject|sender|reply-to|message-id|in-reply-to|references|list-.*)$/i

const ADDRESS_FIELD =
  /^(?:reply-to|sender|list-id|errors-to|disposition-notification-to|mail-followup-to|mail-reply-to)$/i

/**
 * The same input gives the same octets. `memo`: the fields of the messages that were composed
 * before.
 * @throws TypeError if a header value contains CR, LF or NUL; if an address, a date or a header
 * name is malformed; if a header belongs to the writer; or if there is no body
 */
export function composeMessage(
  input: MessageInput,
  memo: FieldMemo = createFieldMemo(),
): MimeMessage {
  const root = composeBody(input)
  const head = `${composeHead(input, memo)}${root.fields}\r\n`
  const needsSmtputf8 = Buffer.byteLength(head) !== head.length
  const section = needsSmtputf8 ? Buffer.from(head, 'utf8').toString('latin1') : head
  const octets = section + root.body
  return { octets: octets.endsWith('\r\n') ? octets : `${octets}\r\n`, needsSmtputf8 }
}

function composeHead(input: MessageInput, memo: FieldMemo): string {
  const { extras, replaced } = effectiveHeaders(input.headers)
  let head =
    memo('Date', input.date, dateField) +
    memo('From', input.from, formatMailboxField, isSameMailbox) +
    recipientFields(input)
  if (input.replyTo !== null && !replaced.has('reply-to')) {
    head += memo('Reply-To', input.replyTo, formatMailboxField, isSameMailbox)
  }
  if (!replaced.has('subject')) head += memo('Subject', input.subject, subjectField)
  if (!replaced.has('message-id')) head += messageIdField(input.messageId)
  head += 'MIME-Version: 1.0\r\n'
  for (const [name, value] of extras) head += memo(name, value, extraField)
  return head
}

function isSameMailbox(left: Mailbox, right: Mailbox): boolean {
  return left.address === right.address && left.name === right.name
}

function recipientFields({ to, recipientFields }: MessageInput): string {
  if (recipientFields === undefined) return formatMailboxField('To', to)
  const fields = { To: recipientFields.to, Cc: recipientFields.cc }
  return Object.entries(fields)
    .map(([name, value]) => (value === null ? '' : formatRecipients(name, value)))
    .join('')
}

function formatRecipients(name: string, value: string): string {
  assertOneLine(name, value)
  return formatAddressField(name, value)
}

/**
 * `extras`: the headers to write. `replaced`: the lower-case names of those that occur at most
 * once.
 */
function effectiveHeaders(headers: MessageInput['headers']) {
  const replaced = new Map<string, number>()
  let isRepeated = false
  for (const [i, [name]] of headers.entries()) {
    if (!SINGLE_FIELD.test(name)) continue
    const single = name.toLowerCase()
    isRepeated ||= replaced.has(single)
    replaced.set(single, i)
  }
  if (!isRepeated) return { extras: headers, replaced }
  const extras = headers.filter(([name], i) => (replaced.get(name.toLowerCase()) ?? i) === i)
  return { extras, replaced }
}

function extraField(name: string, value: string): string {
  assertFieldName(name)
  if (OWNED_FIELD.test(name))
    throw new TypeError(`header ${name} belongs to the writer of the message`)
  assertOneLine('header value', value)
  return ADDRESS_FIELD.test(name) ? formatAddressField(name, value) : formatTextField(name, value)
}

function subjectField(name: string, subject: string): string {
  assertOneLine('subject', subject)
  return formatTextField(name, subject)
}

function messageIdField(messageId: string): string {
  const isTooLong = messageId.length > MAX_WRITTEN_ID_LENGTH
  if (isTooLong || !/^[!-;=?-~]+$/.test(messageId)) throw new TypeError('message id is malformed')
  return `Message-ID: <${messageId}>\r\n`
}

function dateField(name: string, at: number): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) throw new TypeError('date is not an instant')
  return formatField(name, date.toUTCString().replace('GMT', '+0000'))
}

function composeBody({ html, text, attachments, messageId }: MessageInput): MimePart {
  if (html === null && text === null) throw new TypeError('a message needs html or text')
  const [first] = attachments
  if (first?.sealed !== undefined) return sealedPart(first, first.sealed)
  const nextBoundary = boundariesOf(messageId)
  const { related, before, after, files } = placeAttachments(attachments, html !== null)
  const alternatives: MimePart[] = []
  if (text !== null) alternatives.push(textPart('plain', text))
  alternatives.push(...before.map(attachmentPart))
  if (html !== null) {
    const shown = [textPart('html', html), ...related.map(attachmentPart)]
    alternatives.push(wrap('related', shown, nextBoundary))
  }
  alternatives.push(...after.map(attachmentPart))
  const readable = wrap('alternative', alternatives, nextBoundary)
  return wrap('mixed', [readable, ...files.map(attachmentPart)], nextBoundary)
}

type Places = Record<'related' | 'before' | 'after' | 'files', Attachment[]>

/**
 * Sorts attachments by their place in the message. `before`, `after`: alternatives before and after the
 * HTML part. A mail program shows the last alternative that it knows, and AMP for Email must not be the last.
 */
function placeAttachments(attachments: readonly Attachment[], hasHtml: boolean): Places {
  const places: Places = { related: [], before: [], after: [], files: [] }
  for (const file of attachments) {
    if (file.disposition === 'alternative') {
      const isAmp = /^text\/x-amp-html\b/i.test(file.contentType)
      places[isAmp ? 'before' : 'after'].push(file)
    } else {
      const isRelated = hasHtml && file.disposition === 'inline' && file.contentId !== null
      places[isRelated ? 'related' : 'files'].push(file)
    }
  }
  return places
}

function wrap(
  subtype: Parameters<typeof multipart>[0],
  parts: readonly MimePart[],
  nextBoundary: NextBoundary,
): MimePart {
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : multipart(subtype, parts, nextBoundary())
}
