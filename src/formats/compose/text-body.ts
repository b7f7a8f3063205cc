/**
 * Text as the body of a MIME part: 7-bit, CRLF at every line end, no long line. No encoded body
 * contains `--=_`, so no body contains a boundary that begins with `=_`: in quoted-printable only hex
 * digits or a line end follow `=`, and base64 has no `-`. One character of `body` is one octet.
 */
import { encodeBase64Lines } from './base64-lines.ts'
import { toCrlf } from './crlf.ts'
import { encodeQuotedPrintable } from './quoted-printable.ts'

export type EncodedText = {
  transferEncoding: '7bit' | 'quoted-printable' | 'base64'
  body: string
}

export const MAX_PLAIN_LINE_LENGTH = 78
/**
 * Only a text longer than this becomes base64 because of many escaped ASCII characters; a shorter
 * text stays readable in quoted-printable.
 */
const LONG_TEXT_LENGTH = 1_000_000
const CR = 0x0d
const LF = 0x0a
const TAB = 0x09
const SPACE = 0x20
const EQUALS = 0x3d
const TILDE = 0x7e
const DELETE = 0x7f

/** Encodes text as UTF-8; lone surrogates become U+FFFD, every line break becomes CRLF. */
export function encodeText(text: string): EncodedText {
  if (hasPlainLines(text)) return { transferEncoding: '7bit', body: toCrlf(text) }
  if (isBase64Shorter(Buffer.byteLength(text), text.length) || isMostlyEscaped(text)) {
    const body = encodeBase64Lines(Buffer.from(toCrlf(text), 'utf8'))
    return { transferEncoding: 'base64', body }
  }
  return { transferEncoding: 'quoted-printable', body: encodeQuotedPrintable(text) }
}

/**
 * Whether each line is printable ASCII, has at most 78 columns (RFC 5322 section 2.1.1) and does
 * not end in white space.
 */
function hasPlainLines(text: string): boolean {
  let column = 0
  let last = LF
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code === LF || code === CR) {
      if (last === SPACE || last === TAB) return false
      column = 0
    } else {
      if ((code < SPACE && code !== TAB) || code > TILDE) return false
      column += 1
      if (column > MAX_PLAIN_LINE_LENGTH) return false
    }
    last = code
  }
  return last !== SPACE && last !== TAB && isUntouchable(text)
}

/** Whether no line begins with `From `, which mbox files escape, and no boundary could begin. */
function isUntouchable(text: string): boolean {
  return !/(?:^|[\r\n])From /.test(text) && !text.includes('--=_')
}

/**
 * Whether a long text has so many escaped ASCII characters that base64 is shorter: each escape adds
 * two columns, base64 adds a third to the whole text.
 */
function isMostlyEscaped(text: string): boolean {
  if (text.length <= LONG_TEXT_LENGTH) return false
  const maxEscaped = text.length / 6
  let escaped = 0
  for (let i = 0; i < text.length && escaped <= maxEscaped; i += 1) {
    const code = text.charCodeAt(i)
    const isPlain = code >= SPACE ? code <= TILDE && code !== EQUALS : code <= CR && code >= TAB
    if (!isPlain && code <= DELETE) escaped += 1
  }
  return escaped > maxEscaped
}

/**
 * Whether base64 is shorter because of characters outside ASCII. Such a character has 1 or 2 octets
 * more than UTF-16 units, and each of its octets takes 3 columns of quoted-printable. Above one
 * excess octet in eight, base64's four thirds are less.
 */
export function isBase64Shorter(octets: number, units: number): boolean {
  return (octets - units) * 8 > octets
}
