/**
 * Rewrites the parts of a message that mailparser 3.9.31 would read wrongly, and nothing else; most
 * messages stay unchanged. It mends header fields in charsets other than UTF-8, encoded words that
 * belong together, repeated fields of which one is right, invalid types, and boundaries that do not
 * fit the body. The contents of attached messages stay unchanged.
 */
import { MAX_HEADER_BYTES } from '../limits.ts'
import type { Damage } from '../parse/damage.ts'
import { listCharsets } from '../parse/declared-charsets.ts'
import { decodeWords, mapEncodedWords } from '../parse/decode-text.ts'
import { isCertainlyAscii } from '../parse/seven-bit.ts'
import { mendBody } from './mend-body.ts'
import { type Mending, utf8Octets } from './mending.ts'
import { findFields, type PartField, readPartFields } from './part-fields.ts'

type Span = { start: number; end: number; depth: number }

const MAX_DEPTH = 30
const MAX_PARTS = 400
const CR = 0x0d
const LF = 0x0a

type MendedMessage = { raw: Buffer; guesses: readonly string[] }

/** Fields whose encoded words mailparser decodes by itself. */
const DECODED = /^(?:from|to|cc|bcc|sender|reply-to|content-type|content-disposition)$/
/** A single encoded word in a charset without states, which mailparser decodes rightly. */
const SAFE_WORD = /^=\?(?:utf-8|us-ascii)\?[bq]\?[!->@-~]*\?=$/i

export function mendMessage(raw: Buffer, damage: Damage): MendedMessage {
  const guesses = listCharsets(raw)
  const mending: Mending = { raw, edits: [], damage, guesses, partsLeft: MAX_PARTS }
  mendEntity(mending, { start: 0, end: raw.length, depth: 0 })
  return { raw: applyEdits(mending), guesses }
}

function mendEntity(mending: Mending, { start, end, depth }: Span): void {
  if (mending.partsLeft === 0 || depth > MAX_DEPTH) return
  mending.partsLeft -= 1
  const { raw } = mending
  const headerEnd = findHeaderEnd(raw, start, end)
  if (headerEnd === undefined) return
  const source = raw.toString('latin1', start, headerEnd)
  const bodyStart = skipLineEnd(raw, skipLineEnd(raw, headerEnd))
  const fields = readPartFields(source)
  const body = mendBody(mending, fields, { start: bodyStart, end, isRoot: depth === 0 })
  const header = mendFields(mending, fields, { type: body.contentType })
  if (header !== source) {
    mending.edits.push({ start, end: headerEnd, octets: Buffer.from(header, 'latin1') })
  }
  mending.edits.push(...body.edits)
  for (const part of body.parts) mendEntity(mending, { ...part, depth: depth + 1 })
}

/** The offset of the empty line after a header section; undefined if the section has no fields. */
function findHeaderEnd(raw: Buffer, start: number, end: number): number | undefined {
  if (raw[start] === CR || raw[start] === LF || start >= end) return undefined
  const limit = Math.min(end, start + MAX_HEADER_BYTES + 4)
  const section = raw.subarray(start, limit)
  const ends = [section.indexOf('\r\n\r\n'), section.indexOf('\n\n')].filter((at) => at !== -1)
  if (ends.length > 0) return start + Math.min(...ends)
  return limit === end ? end : undefined
}

function skipLineEnd(raw: Buffer, at: number): number {
  if (raw[at] === CR && raw[at + 1] === LF) return at + 2
  return raw[at] === LF ? at + 1 : at
}

function applyEdits({ raw, edits }: Mending): Buffer {
  if (edits.length === 0) return raw
  const pieces: Buffer[] = []
  let at = 0
  for (const { start, end, octets } of edits.sort((one, other) => one.start - other.start)) {
    pieces.push(raw.subarray(at, start), octets)
    at = end
  }
  return Buffer.concat([...pieces, raw.subarray(at)])
}

/**
 * Rewrites those fields of a header section that mailparser would read wrongly. `type`: the value
 * of the only Content-Type field; undefined keeps the given fields. The result has one character
 * per octet.
 */
function mendFields(
  mending: Mending,
  fields: readonly PartField[],
  { type }: { type: string | undefined },
): string {
  const encoding = chooseEncoding(fields)
  let isTypeWritten = false
  const lines = fields.flatMap((field) => {
    if (field.name === 'content-type' && type !== undefined) {
      if (isTypeWritten) return []
      isTypeWritten = true
      return [mendField(mending, { ...field, source: `Content-Type: ${type}` })]
    }
    if (field.name === 'content-transfer-encoding' && encoding !== undefined) {
      return field === encoding ? [field.source] : []
    }
    return [mendField(mending, field)]
  })
  if (type !== undefined && !isTypeWritten) lines.push(`Content-Type: ${type}`)
  return lines.join('\r\n')
}

/**
 * Of several Content-Transfer-Encoding fields, returns the one with the strongest encoding
 * (undefined for a single field): its decoder leaves plain octets as they are, but without it
 * encoded octets are unreadable.
 */
function chooseEncoding(fields: readonly PartField[]): PartField | undefined {
  const given = findFields(fields, 'content-transfer-encoding')
  if (given.length < 2) return undefined
  return given.find(({ value }) => /^(?:base64|quoted-printable)\b/i.test(value)) ?? given[0]
}

function mendField(mending: Mending, { name, source }: PartField): string {
  const { guesses, damage } = mending
  const part = source.slice(0, name.length) || 'Header field'
  const between = (text: string) =>
    isCertainlyAscii(text) ? text : utf8Octets(text, { guesses, damage, part })
  if (!source.includes('=?')) return between(source)
  const isDecoded = DECODED.test(name)
  return mapEncodedWords(source, {
    words: (run) =>
      !isDecoded || SAFE_WORD.test(run)
        ? run
        : encodeWord(decodeWords(run, { guesses, damage, part }), run),
    between,
  })
}

/**
 * Encodes the text as one word in UTF-8, with the letter (B or Q) of the first given word:
 * mailparser looks for addresses in base64 words only.
 */
function encodeWord(text: string, words: string): string {
  const octets = Buffer.from(text)
  if (/^=\?[^?]*\?b/i.test(words)) return `=?utf-8?B?${octets.toString('base64')}?=`
  const escaped = octets.toString('hex').toUpperCase().replace(/../g, '=$&')
  return `=?utf-8?Q?${escaped}?=`
}
