/**
 * Quoted-printable (RFC 2045 section 6.7) of text as UTF-8, in two steps: octets are escaped, which
 * goes by the character, then lines are broken, which needs to know where they begin. On the path
 * of every message, hence what stays as it is is copied in runs.
 */
const MAX_COLUMNS = 75 // the 76th column is for the `=` of a soft line break
const BLOCK_LENGTH = 32_768
const MAX_ESCAPE_LENGTH = 12
const ESCAPE_LENGTH = 3

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const EQUALS = 0x3d
const TILDE = 0x7e

/** What `isLiteral` denies: two ways to look for the same. */
const SPECIAL = /[^\t -<>-~]|[\t ](?![\t -\uffff])/g

const ESCAPES = Array.from({ length: 256 }, (_, octet) => {
  return `=${octet.toString(16).toUpperCase().padStart(2, '0')}`
})

/**
 * The text as lines of at most 76 columns, each character one octet. Every line break in it (CRLF,
 * a lone CR, a lone LF) is a CRLF in the result; lone surrogates become U+FFFD.
 */
export function encodeQuotedPrintable(text: string): string {
  return breakLines(escapeOctets(text))
}

/** The first step: escapes and CRLFs, lines as long as they are. */
export function escapeOctets(text: string): string {
  /** As octets, so that the many pieces of one block are gone before the next is begun. */
  const blocks: Buffer[] = []
  let escaped = ''
  let isWide = false
  let blockAt = 0
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (isLiteral(code, text, at)) {
      const end = findSpecial(text, at + 1)
      escaped += text.slice(at, end)
      at = end
    } else if (code === LF || code === CR) {
      escaped += '\r\n'
      at += code === CR && text.charCodeAt(at + 1) === LF ? 2 : 1
    } else {
      const octets = escapeCharacter(code, text, at)
      escaped += octets
      isWide ||= code > 0xff
      at += octets.length === MAX_ESCAPE_LENGTH ? 2 : 1
    }
    if (at - blockAt > BLOCK_LENGTH) {
      blocks.push(Buffer.from(escaped, 'latin1'))
      escaped = ''
      blockAt = at
    }
  }
  // A slice of text in UTF-16 is in UTF-16 too, and would make all that it becomes part of so.
  if (blocks.length === 0 && !isWide) return escaped
  return Buffer.concat([...blocks, Buffer.from(escaped, 'latin1')]).toString('latin1')
}

/** The second step; each of the lines that end in CRLF, and what follows the last, for itself. */
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

function isLiteral(code: number, text: string, at: number): boolean {
  if (code > SPACE) return code <= TILDE && code !== EQUALS
  if (code !== SPACE && code !== TAB) return false
  const next = text.charCodeAt(at + 1)
  return next >= SPACE || next === TAB
}

/** Of what is not literal, the first from `from` on. */
function findSpecial(text: string, from: number): number {
  SPECIAL.lastIndex = from
  return SPECIAL.test(text) ? SPECIAL.lastIndex - 1 : text.length
}

/** The octets of the character at `at`. */
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

/** The last place up to `at` that is not inside a character. */
function breakBefore(escaped: string, at: number): number {
  let place = at
  if (escaped.charCodeAt(place - 1) === EQUALS) place -= 1
  else if (escaped.charCodeAt(place - 2) === EQUALS) place -= 2
  while (isInside(escaped, place)) place -= ESCAPE_LENGTH
  return place
}

/** Whether an octet of UTF-8 comes next that begins no character: 80 to BF. */
function isInside(escaped: string, at: number): boolean {
  if (escaped.charCodeAt(at) !== EQUALS) return false
  const digit = escaped.charAt(at + 1)
  return digit === '8' || digit === '9' || digit === 'A' || digit === 'B'
}
