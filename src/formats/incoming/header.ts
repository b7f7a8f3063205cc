/**
 * Reads the header fields that the processing of every incoming message needs. Time and memory are
 * bounded; nothing throws.
 */

import { MAX_HEADER_BYTES, MAX_LINE_OCTETS } from '../limits.ts'
import { oneLine } from '../one-line.ts'
import { listCharsets } from '../parse/declared-charsets.ts'
import { decodeHeader } from '../parse/decode-text.ts'
import { findField, listFields, readFields } from '../parse/fields.ts'
import { isCertainlyAscii } from '../parse/seven-bit.ts'

export type IncomingHeader = {
  /** The decoded subject on one line. */
  subject: string
  /** The whole From field, decoded; '' if the message has none. */
  fromField: string
  /** The message id without its angle brackets. */
  messageId: string | null
  /**
   * Ids of the messages that this message may answer: those of In-Reply-To, then those of
   * References, the last one first.
   */
  answers: string[]
  /** Auto-Submitted is present and not `no` (RFC 3834 section 5). */
  isAutoSubmitted: boolean
  /** The unverified value of X-Pillarbox-Id, a field of mail that Pillarbox sends. */
  ownToken: string | null
}

const MAX_ID_LENGTH = 500
const MAX_ANSWERED_IDS = 20

export function readIncomingHeader(raw: Buffer): IncomingHeader {
  const fields = readFields(headerSection(raw))
  let guesses: string[] | undefined
  const line = (name: string) => {
    const value = findField(fields, name) ?? ''
    if (isPlain(value)) return boundedLine(value)
    guesses ??= listCharsets(raw)
    return boundedLine(decodeHeader(value, { guesses }))
  }
  const autoSubmitted = findField(fields, 'auto-submitted') ?? 'no'
  const references = listIds(listFields(fields, 'references').join(' ')).reverse()
  const inReplyTo = listIds(listFields(fields, 'in-reply-to').join(' '))
  return {
    subject: line('subject'),
    fromField: line('from'),
    messageId: listIds(findField(fields, 'message-id') ?? '')[0] ?? null,
    answers: [...new Set([...inReplyTo, ...references])].slice(0, MAX_ANSWERED_IDS),
    isAutoSubmitted: !/^\s*no\s*(?:[;(]|$)/i.test(autoSubmitted),
    ownToken: findField(fields, 'x-pillarbox-id')?.trim() ?? null,
  }
}

function headerSection(raw: Buffer): string {
  const begin = raw.toString('latin1', 0, MAX_HEADER_BYTES)
  const end = /(?:\r\n|\n|\r(?!\n)){2}/.exec(begin)?.index ?? begin.length
  return begin.slice(0, end).replace(/\r\n?/g, '\n')
}

/** Whether the value has nothing to decode. */
function isPlain(value: string): boolean {
  return isCertainlyAscii(value) && !value.includes('=?')
}

/** Lists message identifiers (RFC 5322 section 3.6.4), also those without angle brackets. */
function listIds(value: string): string[] {
  const bracketed = [...value.matchAll(/<\s{0,9}([^<>\s]{1,500})\s{0,9}>/g)].map(([, id]) => id)
  const ids = bracketed.length > 0 ? bracketed : value.split(/[\s,]+/)
  return ids.filter((id) => id !== undefined && id !== '' && id.length <= MAX_ID_LENGTH) as string[]
}

/** At most 998 characters on one line. */
export function boundedLine(text: string): string {
  return oneLine(text).slice(0, MAX_LINE_OCTETS).toWellFormed()
}
