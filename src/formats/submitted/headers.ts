/**
 * Reads the header fields of a submitted message: those that are sent with it, its To and Cc, and the field
 * that says whether it is a template.
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

/** Fields that a send request has its own properties for. */
const READ_ELSEWHERE = new Set(['subject', 'reply-to'])
/** Encoded words in these fields are kept, because a decoded name could contain a comma. */
const ADDRESS_FIELD =
  /^(?:list-id|errors-to|disposition-notification-to|mail-followup-to|mail-reply-to)$/
const MESSAGE_ID = new RegExp(`^<[!-;=?-~]{1,${MAX_WRITTEN_ID_LENGTH}}>$`)

type Mailboxes = { to: readonly NamedMailbox[]; cc: readonly NamedMailbox[] }

const TEMPLATE_FIELD = 'x-pillarbox-template'

/**
 * The fields to send, or the reason for which they are refused. The first of a repeated field counts.
 * Fields that Pillarbox writes and an invalid Message-ID are left out.
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

/** Keeps the first and the newest ids of a long thread (RFC 5537 section 3.4.4). */
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

/** Undefined if a single address without a name is enough. */
function formatReplyTo(mailboxes: readonly NamedMailbox[]): string | undefined {
  if (mailboxes.length < 2 && !mailboxes[0]?.name) return undefined
  const value = mailboxes.map(formatMailbox).join(', ')
  return value.length > MAX_EXTRA_HEADER_VALUE_LENGTH ? undefined : value
}

/** The name in quotes, and the address in wire form. */
function formatMailbox({ address, name }: NamedMailbox): string {
  return name === null ? address.wire : `"${name.replace(/["\\]/g, '\\$&')}" <${address.wire}>`
}

/**
 * Returns To and Cc, which every recipient gets as they were written. Encoded words are kept. A field with
 * other characters than ASCII is written anew, with its addresses in wire form.
 *
 * Null without both fields, and when one of them cannot be sent: each recipient then gets its own To.
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
  // Servers without SMTPUTF8 would refuse the copies of all others, too.
  return isInternational ? 'an address is not in ASCII' : undefined
}

/** A field that is repeated counts as one; null without a value. */
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
 * Reads the field by which a program says whether its message is a template. The field is not sent.
 * Undefined without the field; a text is the reason for refusing the message.
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
