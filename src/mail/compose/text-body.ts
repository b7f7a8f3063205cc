import { encodeBase64Lines } from './base64-lines.ts'
import { encodeQuotedPrintable } from './quoted-printable.ts'

/**
 * Text as the body of a MIME part: seven bits, CRLF at every line end, no long line, whatever the
 * text holds. No encoded body can hold `--=_`, so a boundary that begins with `=_` occurs in none:
 * quoted-printable has only hex digits or a line end after `=`, base64 has no `-`. Each character
 * of `body` is one octet.
 */
export type EncodedText = {
  transferEncoding: '7bit' | 'quoted-printable' | 'base64'
  body: string
}

export const MAX_PLAIN_LINE_LENGTH = 78
/** Shorter texts stay readable as they travel, whatever it costs. */
const LONG_TEXT_LENGTH = 1_000_000
const PIECE_LENGTH = 65_536
const CR = 0x0d
const LF = 0x0a
const TAB = 0x09
const SPACE = 0x20
const EQUALS = 0x3d
const TILDE = 0x7e
const DELETE = 0x7f

/** UTF-8; lone surrogates become U+FFFD, every line break (CRLF, CR or LF) a CRLF. */
export function encodeText(text: string): EncodedText {
  if (hasPlainLines(text)) return { transferEncoding: '7bit', body: toCrlf(text) }
  if (isBase64Shorter(Buffer.byteLength(text), text.length) || isMostlyEscaped(text)) {
    const body = encodeBase64Lines(Buffer.from(toCrlf(text), 'utf8'))
    return { transferEncoding: 'base64', body }
  }
  return { transferEncoding: 'quoted-printable', body: encodeQuotedPrintable(text) }
}

/** Printable ASCII in lines of at most 78 (RFC 5322 section 2.1.1), no white space at their ends. */
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

/** No line that an mbox file would escape, and none that could be a boundary of ours. */
function isUntouchable(text: string): boolean {
  return !/(?:^|[\r\n])From /.test(text) && !text.includes('--=_')
}

/**
 * Of a long text, whether base64 is shorter by what is escaped of ASCII: each such character takes
 * two columns more, where base64 takes a third more of all.
 */
function isMostlyEscaped(text: string): boolean {
  if (text.length <= LONG_TEXT_LENGTH) return false
  const most = text.length / 6
  let escaped = 0
  for (let i = 0; i < text.length && escaped <= most; i += 1) {
    const code = text.charCodeAt(i)
    const isPlain = code >= SPACE ? code <= TILDE && code !== EQUALS : code <= CR && code >= TAB
    if (!isPlain && code <= DELETE) escaped += 1
  }
  return escaped > most
}

/**
 * A character outside ASCII takes 1 or 2 octets more than UTF-16 units and 3 or 4 times as many
 * columns of quoted-printable: above an eighth of such excess base64's four thirds are less.
 */
export function isBase64Shorter(octets: number, units: number): boolean {
  return (octets - units) * 8 > octets
}

/** Piece by piece: many places at once take many times their text in memory. */
function toCrlf(text: string): string {
  if (text.length <= PIECE_LENGTH) return text.replace(/\r\n?|\n/g, '\r\n')
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = at + PIECE_LENGTH
    const next = text.charCodeAt(end - 1) === CR ? end - 1 : end
    // Joined it is one string; what `replace` gives keeps all its pieces.
    pieces.push(
      text
        .slice(at, next)
        .split(/\r\n?|\n/)
        .join('\r\n'),
    )
    at = next
  }
  return pieces.join('')
}
