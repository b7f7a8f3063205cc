/**
 * Quoted-printable (RFC 2045 section 6.7) of UTF-8 text. On the path of every message, hence one
 * pass over octets with one table and no strings in between.
 */
const lineLimit = 75 // the 76th column is for the `=` of a soft line break
const shortestSoftLine = 64
const softBreakLength = 3
const escapeLength = 3

const CR = 0x0d
const LF = 0x0a
const EQUALS = 0x3d

/**
 * Per octet: BREAK, LITERAL, BLANK (literal unless a line ends after it), else the columns to have
 * free for it: the first octet of a UTF-8 character asks for the whole character.
 */
const BREAK = 0
const LITERAL = 1
const BLANK = 2
const kinds = Uint8Array.from({ length: 256 }, (_, octet) => kindOf(octet))

const hexDigits = Buffer.from('0123456789ABCDEF')

/**
 * The text as lines of at most 76 columns. Every line break in it (CRLF, a lone CR, a lone LF) is
 * a CRLF in the result; white space that a line ends in is escaped.
 */
export function encodeQuotedPrintable(text: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(sizeBound(text.length))
  const end = text.length
  let at = 0
  let limit = lineLimit
  let i = 0
  while (i < end) {
    const octet = text[i++] as number
    const kind = kinds[octet] as number
    if (kind === LITERAL && at < limit) {
      out[at++] = octet
      continue
    }
    if (kind === BREAK) {
      if (octet === CR && text[i] === LF) i += 1
      out[at++] = CR
      out[at++] = LF
      limit = at + lineLimit
      continue
    }
    const isLiteral =
      kind === LITERAL || (kind === BLANK && i < end && kinds[text[i] as number] !== BREAK)
    if (at + (isLiteral ? 1 : Math.max(kind, escapeLength)) > limit) {
      out[at++] = EQUALS
      out[at++] = CR
      out[at++] = LF
      limit = at + lineLimit
    }
    if (isLiteral) {
      out[at++] = octet
      continue
    }
    out[at++] = EQUALS
    out[at++] = hexDigits[octet >> 4] as number
    out[at++] = hexDigits[octet & 15] as number
  }
  return out.subarray(0, at)
}

function kindOf(octet: number): number {
  if (octet === CR || octet === LF) return BREAK
  if (octet === 0x20 || octet === 0x09) return BLANK
  if (octet > 0x20 && octet < 0x7f && octet !== EQUALS) return LITERAL
  if (octet >= 0xf0) return 4 * escapeLength
  if (octet >= 0xe0) return 3 * escapeLength
  return octet >= 0xc0 ? 2 * escapeLength : escapeLength
}

/** Every octet escaped, and a soft break after each line as short as a long character makes it. */
function sizeBound(length: number): number {
  const columns = length * escapeLength
  return columns + (Math.ceil(columns / shortestSoftLine) + 1) * softBreakLength
}
