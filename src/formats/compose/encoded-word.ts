/**
 * Encoded words (RFC 2047) for text outside ASCII in a 7-bit header section. All words use the
 * narrow alphabet that is legal in a phrase (section 5.3), so that they are valid in subjects and
 * in display names.
 */
const MAX_WORD_LENGTH = 75
const WORD_OVERHEAD = '=?UTF-8?Q??='.length
const MIN_WIDTH = 30

const Q_FORMS = Array.from({ length: 256 }, (_, byte) => qForm(byte))

/**
 * Whether a header field cannot contain the text as it is: the text has a character other than
 * printable ASCII, space and tab, or a part that a reader could take for an encoded word.
 */
export function needsEncodedWords(text: string): boolean {
  return /[^\t\x20-\x7e]/.test(text) || text.includes('=?')
}

/**
 * The text as encoded words with one space between them, which readers drop. No word is longer than
 * 75 characters or splits a character. Q is used unless B is much shorter, so that text that is
 * mostly ASCII stays readable (RFC 2047 section 4). `firstWidth`: columns left on a line that has
 * begun; if they are too few, the first word has full length and goes to the next line.
 */
export function encodeWords(text: string, firstWidth = MAX_WORD_LENGTH): string {
  const wellFormed = text.toWellFormed()
  const first = firstWidth < MIN_WIDTH ? MAX_WORD_LENGTH : Math.min(firstWidth, MAX_WORD_LENGTH)
  const bytes = Buffer.from(wellFormed, 'utf8')
  if (qLength(bytes) <= bytes.length * 2) {
    const limits = {
      first: first - WORD_OVERHEAD,
      rest: MAX_WORD_LENGTH - WORD_OVERHEAD,
      cost: qCost,
    }
    return splitByCost(wellFormed, limits).map(qWord).join(' ')
  }
  const limits = { first: base64Width(first), rest: base64Width(MAX_WORD_LENGTH), cost: utf8Length }
  return splitByCost(wellFormed, limits).map(bWord).join(' ')
}

/** Octets of a code point in UTF-8. */
export function utf8Length(char: string): number {
  const codePoint = char.codePointAt(0) ?? 0
  if (codePoint < 0x80) return 1
  if (codePoint < 0x800) return 2
  return codePoint < 0x10000 ? 3 : 4
}

type PieceLimits = { first: number; rest: number; cost: (char: string) => number }

/**
 * Splits text into pieces of whole code points. The first piece costs at most `first`, every other
 * piece at most `rest`.
 */
export function splitByCost(text: string, { first, rest, cost }: PieceLimits): string[] {
  const pieces: string[] = []
  let piece = ''
  let left = first
  for (const char of text) {
    const price = cost(char)
    if (price > left) {
      pieces.push(piece)
      piece = ''
      left = rest
    }
    piece += char
    left -= price
  }
  pieces.push(piece)
  return pieces
}

function base64Width(width: number): number {
  return Math.floor((width - WORD_OVERHEAD) / 4) * 3
}

function qWord(piece: string): string {
  let word = '=?UTF-8?Q?'
  for (const byte of Buffer.from(piece, 'utf8')) word += Q_FORMS[byte]
  return `${word}?=`
}

function bWord(piece: string): string {
  return `=?UTF-8?B?${Buffer.from(piece, 'utf8').toString('base64')}?=`
}

function qLength(bytes: Uint8Array): number {
  let length = 0
  for (const byte of bytes) length += Q_FORMS[byte]?.length ?? 0
  return length
}

function qCost(char: string): number {
  const codePoint = char.codePointAt(0) ?? 0
  return codePoint < 0x80 ? (Q_FORMS[codePoint]?.length ?? 0) : utf8Length(char) * 3
}

function qForm(byte: number): string {
  const char = String.fromCharCode(byte)
  if (char === ' ') return '_'
  if (/[A-Za-z0-9!*+/-]/.test(char)) return char
  return `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
}
