/**
 * Quoted-printable (RFC 2045 section 6.7) of text as UTF-8, in two steps: escaping, which works
 * character by character, and breaking lines, which depends on where each line begins. Every
 * message passes through here, so runs of literal characters are copied whole.
 */
import { toCrlf } from './crlf.ts'

const MAX_COLUMNS = 75 // the 76th column is for the `=` of a soft line break
const BLOCK_LENGTH = 32_768
const MAX_ESCAPE_LENGTH = 12
const ESCAPE_LENGTH = 3

const EQUALS = 0x3d

/** Matches characters that must be escaped; a blank must be escaped only at the end of a line. */
const SPECIAL = /[^\t\r\n -<>-~]|[\t ](?![\t -\uffff])/g

const ESCAPES = Array.from({ length: 256 }, (_, octet) => {
  return `=${octet.toString(16).toUpperCase().padStart(2, '0')}`
})

/**
 * The text as lines of at most 76 columns, one character per octet. Every line break (CRLF, lone CR,
 * lone LF) becomes CRLF; lone surrogates become U+FFFD.
 */
export function encodeQuotedPrintable(text: string): string {
  return breakLines(escapeOctets(text))
}

/** The first step: escapes octets and converts line breaks, without breaking lines. */
export function escapeOctets(source: string): string {
  const text = toCrlf(source)
  /** Finished blocks, as Buffers: the string pieces of a block can be freed before the next one. */
  const blocks: Buffer[] = []
  let escaped = ''
  let isWide = false
  let blockAt = 0
  let at = 0
  for (;;) {
    const special = findSpecial(text, at)
    escaped += text.slice(at, special)
    if (special === text.length) break
    const code = text.charCodeAt(special)
    const octets = escapeCharacter(code, text, special)
    escaped += octets
    isWide ||= code > 0xff
    at = special + (octets.length === MAX_ESCAPE_LENGTH ? 2 : 1)
    if (at - blockAt > BLOCK_LENGTH) {
      blocks.push(Buffer.from(escaped, 'latin1'))
      escaped = ''
      blockAt = at
    }
  }
  // The result must not be a slice of a UTF-16 string: every string built from it would be UTF-16
  // too.
  if (blocks.length === 0 && !isWide) return escaped
  return Buffer.concat([...blocks, Buffer.from(escaped, 'latin1')]).toString('latin1')
}

/**
 * The second step: breaks every line of more than 75 columns. The text after the last CRLF is a
 * line, too.
 */
export function breakLines(escaped: string): string {
  let broken = ''
  let copied = 0
  let lineAt = 0
  while (lineAt < escaped.length) {
    const found = escaped.indexOf('\r\n', lineAt)
    const end = found === -1 ? escaped.length : found
    while (end - lineAt > MAX_COLUMNS) {
      lineAt = breakBefore(escaped, lineAt + MAX_COLUMNS)
      broken += `${escaped.slice(copied, lineAt)}=\r\n`
      copied = lineAt
    }
    lineAt = end + 2
  }
  return copied === 0 ? escaped : broken + escaped.slice(copied)
}

/** The offset of the first character that must be escaped, from `from` on. */
function findSpecial(text: string, from: number): number {
  SPECIAL.lastIndex = from
  return SPECIAL.test(text) ? SPECIAL.lastIndex - 1 : text.length
}

/** Returns the escaped UTF-8 octets of the character at `at`. */
function escapeCharacter(code: number, text: string, at: number): string {
  if (code < 0x80) return octet(code)
  if (code < 0x800) return `${octet(0xc0 | (code >> 6))}${tail(code)}`
  if (code < 0xd800 || code > 0xdfff) return threeOctets(code)
  const point = text.codePointAt(at) ?? 0
  if (point <= 0xffff) return threeOctets(0xfffd)
  return `${octet(0xf0 | (point >> 18))}${tail(point >> 12)}${tail(point >> 6)}${tail(point)}`
}

function threeOctets(code: number): string {
  return `${octet(0xe0 | (code >> 12))}${tail(code >> 6)}${tail(code)}`
}

function octet(value: number): string {
  return ESCAPES[value] as string
}

function tail(bits: number): string {
  return octet(0x80 | (bits & 0x3f))
}

/** Returns the last offset up to `at` that does not split a character. */
function breakBefore(escaped: string, at: number): number {
  let place = at
  if (escaped.charCodeAt(place - 1) === EQUALS) place -= 1
  else if (escaped.charCodeAt(place - 2) === EQUALS) place -= 2
  while (isInside(escaped, place)) place -= ESCAPE_LENGTH
  return place
}

/** Whether the next octet is a UTF-8 continuation octet (80 to BF). */
function isInside(escaped: string, at: number): boolean {
  if (escaped.charCodeAt(at) !== EQUALS) return false
  const digit = escaped.charAt(at + 1)
  return digit === '8' || digit === '9' || digit === 'A' || digit === 'B'
}
