/** Which header fields of a message that was handed in go on with it, and what they say. */

import type { NamedMailbox } from '../address/named-mailbox.ts'
import { isHeaderName, isRefusedHeader } from '../compose/custom-header.ts'
import { MAX_HEADER_VALUE_LENGTH, MAX_HEADERS } from '../limits.ts'
import { decodeHeader } from '../parse/decode-text.ts'

/** `key` is the name in lower case, `line` the field as it came, one character an octet. */
export type HeaderLine = { key: string; line: string }

/** What the request has fields of its own for. */
const READ_ELSEWHERE = new Set(['subject', 'reply-to'])

/** Their encoded words stay: decoded, a comma of a name would part it. */
const ADDRESS_FIELD =
  /^(?:list-id|errors-to|disposition-notification-to|mail-followup-to|mail-reply-to)$/

const MESSAGE_ID = /^<[!-;=?-~]{1,900}>$/

/**
 * The fields to send along, or why they cannot be. Of a repeated field the first counts. Those that
 * are ours to write are left out, as is a Message-ID that is none.
 */
export function collectHeaders(
  lines: readonly HeaderLine[],
  replyTo: readonly NamedMailbox[],
): Record<string, string> | string {
  const headers = new Map<string, [name: string, value: string]>()
  const answers = formatReplyTo(replyTo)
  if (answers !== undefined) headers.set('reply-to', ['Reply-To', answers])
  for (const { key, line } of lines) {
    if (READ_ELSEWHERE.has(key) || !isHeaderName(key) || isRefusedHeader(key)) continue
    if (headers.has(key)) continue
    const value = readValue(key, line)
    if (key === 'message-id' && !MESSAGE_ID.test(value)) continue
    const name = line.slice(0, key.length)
    if (value.length > MAX_HEADER_VALUE_LENGTH) {
      return `The header field ${name} is longer than ${MAX_HEADER_VALUE_LENGTH} characters`
    }
    headers.set(key, [name, value])
  }
  if (headers.size > MAX_HEADERS) return `More than ${MAX_HEADERS} header fields of your own`
  return Object.fromEntries(headers.values())
}

function readValue(key: string, line: string): string {
  const unfolded = line.slice(line.indexOf(':') + 1).replace(/\r?\n(?=[ \t])/g, '')
  const text = ADDRESS_FIELD.test(key)
    ? Buffer.from(unfolded, 'latin1').toString('utf8')
    : decodeHeader(unfolded)
  const value = text
    .replace(/[\x00-\x08\x0a-\x1f\x7f]+/g, ' ')
    .trim()
    .toWellFormed()
  return key === 'references' ? shortenReferences(value) : value
}

/** Of a long thread its begin and its newest messages (RFC 5537 section 3.4.4). */
function shortenReferences(value: string): string {
  if (value.length <= MAX_HEADER_VALUE_LENGTH) return value
  const [first = '', ...ids] = value.split(/\s+/)
  let kept = ''
  for (const id of ids.reverse()) {
    if (first.length + kept.length + id.length + 1 > MAX_HEADER_VALUE_LENGTH) break
    kept = ` ${id}${kept}`
  }
  return first + kept
}

/** Undefined where one address says it all. */
function formatReplyTo(mailboxes: readonly NamedMailbox[]): string | undefined {
  if (mailboxes.length < 2 && !mailboxes[0]?.name) return undefined
  const value = mailboxes.map(formatMailbox).join(', ')
  return value.length > MAX_HEADER_VALUE_LENGTH ? undefined : value
}

function formatMailbox({ address, name }: NamedMailbox): string {
  return name === null ? address.wire : `"${name.replace(/["\\]/g, '\\$&')}" <${address.wire}>`
}
