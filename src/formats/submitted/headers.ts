/**
 * Reads the header fields of a submitted message: the fields that are sent on, To and Cc, and the
 * field that says whether the message is a template.
 */
import type { NamedMailbox } from '../address/named-mailbox.ts'
import { isHeaderName, isRefusedHeader } from '../compose/custom-header.ts'
import { fitsLines } from '../compose/header-field.ts'
import type { RecipientFields } from '../compose/message-content.ts'
import {
  MAX_EXTRA_HEADER_VALUE_LENGTH,
  MAX_EXTRA_HEADERS,
  MAX_RECIPIENT_FIELD_LENGTH,
  MAX_WRITTEN_ID_LENGTH,
} from '../limits.ts'
import { oneFieldLine } from '../one-line.ts'
import type { Damage } from '../parse/damage.ts'
import { decodeHeader } from '../parse/decode-text.ts'

/** `key`: the name in lower case; `line`: the undecoded field, one character per octet. */
export type HeaderLine = { key: string; line: string }

/** Fields that become properties of the send request. */
const READ_ELSEWHERE = new Set(['subject', 'reply-to'])
/** Fields whose encoded words stay encoded, because a decoded name could contain a comma. */
const ADDRESS_FIELD =
  /^(?:list-id|errors-to|disposition-notification-to|mail-followup-to|mail-reply-to)$/
const MESSAGE_ID = new RegExp(`^<[!-;=?-~]{1,${MAX_WRITTEN_ID_LENGTH}}>$`)

type Mailboxes = { to: readonly NamedMailbox[]; cc: readonly NamedMailbox[] }

const TEMPLATE_FIELD = 'x-pillarbox-template'

/**
 * Returns the fields to send, or the reason why they are refused. Of a repeated field the first
 * counts. An invalid Message-ID and fields that only Pillarbox writes are left out.
 */
export function collectHeaders(
  lines: readonly HeaderLine[],
  { replyTo, damage }: { replyTo: readonly NamedMailbox[]; damage: Damage },
): Record<string, string> | string {
  const headers = new Map<string, [name: string, value: string]>()
  const answers = formatReplyTo(replyTo)
  if (answers !== undefined) headers.set('reply-to', ['Reply-To', answers])
  for (const { key, line } of lines) {
    if (READ_ELSEWHERE.has(key) || !isHeaderName(key) || isRefusedHeader(key)) continue
    const name = line.slice(0, key.length)
    if (headers.has(key)) {
      damage.add(`${name}: a repeated field; the first one counts.`)
      continue
    }
    const value = readValue(key, line, damage)
    if (key === 'message-id' && !MESSAGE_ID.test(value)) {
      damage.add('Message-ID: no valid id; it was replaced.')
      continue
    }
    if (value.length > MAX_EXTRA_HEADER_VALUE_LENGTH) {
      return `The header field ${name} is longer than ${MAX_EXTRA_HEADER_VALUE_LENGTH} characters`
    }
    headers.set(key, [name, value])
  }
  if (headers.size > MAX_EXTRA_HEADERS) return `More than ${MAX_EXTRA_HEADERS} custom header fields`
  return Object.fromEntries(headers.values())
}

function readValue(key: string, line: string, damage: Damage): string {
  const unfolded = line.slice(line.indexOf(':') + 1).replace(/\r?\n(?=[ \t])/g, '')
  const text = ADDRESS_FIELD.test(key)
    ? Buffer.from(unfolded, 'latin1').toString('utf8')
    : decodeHeader(unfolded, { damage, part: line.slice(0, key.length) })
  const value = oneFieldLine(text).toWellFormed()
  return key === 'references' ? shortenReferences(value, damage) : value
}

/**
 * Shortens the References of a long thread to its first and its newest ids (RFC 5537 section
 * 3.4.4).
 */
function shortenReferences(value: string, damage: Damage): string {
  if (value.length <= MAX_EXTRA_HEADER_VALUE_LENGTH) return value
  damage.addCut('References', MAX_EXTRA_HEADER_VALUE_LENGTH)
  const [first = '', ...ids] = value.split(/\s+/)
  let kept = ''
  for (const id of ids.reverse()) {
    if (first.length + kept.length + id.length + 1 > MAX_EXTRA_HEADER_VALUE_LENGTH) break
    kept = ` ${id}${kept}`
  }
  return first + kept
}

/**
 * The value of Reply-To. Undefined for a single address without a name, for which the `reply` of
 * the send request is enough, and for a value that is too long.
 */
function formatReplyTo(mailboxes: readonly NamedMailbox[]): string | undefined {
  if (mailboxes.length < 2 && !mailboxes[0]?.name) return undefined
  const value = mailboxes.map(formatMailbox).join(', ')
  return value.length > MAX_EXTRA_HEADER_VALUE_LENGTH ? undefined : value
}

/** Formats a mailbox: the name in quotes, the address in wire form. */
function formatMailbox({ address, name }: NamedMailbox): string {
  return name === null ? address.wire : `"${name.replace(/["\\]/g, '\\$&')}" <${address.wire}>`
}

/**
 * Returns To and Cc as the sender wrote them, for the message of every recipient. Encoded words are
 * kept. A field with characters outside ASCII is written anew, with addresses in wire form.
 *
 * Null if both fields are absent or if one cannot be sent; each recipient then sees its own address
 * in To.
 */
export function readRecipientFields(
  lines: readonly HeaderLine[],
  mailboxes: Mailboxes,
  damage: Damage,
): RecipientFields | null {
  const to = fieldValue(lines, 'to', mailboxes.to)
  const cc = fieldValue(lines, 'cc', mailboxes.cc)
  if (to === null && cc === null) return null
  const obstacle = findObstacle({ to, cc }, mailboxes)
  if (obstacle === undefined) return { to, cc }
  damage.add(`To and Cc: ${obstacle}; each recipient gets its own address alone.`)
  return null
}

function findObstacle({ to, cc }: RecipientFields, mailboxes: Mailboxes): string | undefined {
  if (!isSendable(to) || !isSendable(cc)) return 'too long'
  const isInternational = [...mailboxes.to, ...mailboxes.cc].some(
    ({ address }) => address.needsSmtputf8,
  )
  // A server without SMTPUTF8 would refuse the message for all recipients, even for those with
  // ASCII addresses.
  return isInternational ? 'an address is not in ASCII' : undefined
}

/** Joins the values of a repeated field; null without a value. */
function fieldValue(
  lines: readonly HeaderLine[],
  key: 'to' | 'cc',
  mailboxes: readonly NamedMailbox[],
): string | null {
  const values = lines.flatMap((each) => (each.key === key ? [unfold(each.line)] : []))
  const value = values.filter((each) => each !== '').join(', ')
  if (value === '') return null
  if (/^[\t\x20-\x7e]*$/.test(value)) return value
  const written = mailboxes.map(formatMailbox).join(', ')
  return written === '' ? null : written
}

function unfold(line: string): string {
  const value = line.slice(line.indexOf(':') + 1).replace(/\r?\n(?=[ \t])/g, '')
  return oneFieldLine(value)
}

function isSendable(value: string | null): boolean {
  return value === null || (value.length <= MAX_RECIPIENT_FIELD_LENGTH && fitsLines(value))
}

/**
 * Reads the field with which a program says whether its message is a template; this field is not
 * sent on. Undefined if it is absent; a text is the reason why the message is refused.
 */
export function readTemplateChoice(lines: readonly HeaderLine[]): boolean | undefined | string {
  const values = lines.filter(({ key }) => key === TEMPLATE_FIELD).map(({ line }) => valueIn(line))
  const [value, ...others] = values
  if (value === undefined) return undefined
  const isClear = others.every((other) => other === value)
  if (isClear && (value === 'yes' || value === 'no')) return value === 'yes'
  return 'The header field X-Pillarbox-Template must be yes or no'
}

function valueIn(line: string): string {
  return line
    .slice(line.indexOf(':') + 1)
    .trim()
    .toLowerCase()
}
