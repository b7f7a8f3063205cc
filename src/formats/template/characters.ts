/**
 * The characters that are special in HTML or in a URL, and their stand-ins: noncharacters of
 * Unicode that replace special characters in the protected form of tainted text (`tainted.ts`).
 */
import { MAX_OUTPUT_LENGTH } from './limits.ts'

type Swaps = ReadonlyMap<string, string>

const SPECIALS = ['&', '<', '>', '"', "'"]
/**
 * The further characters that are special in a URL: white space, and printable ASCII that is not
 * unreserved (RFC 3986, section 2.3).
 */
const URL_SPECIALS = [...'!#$%()*+,/:;=?@[\\]^`{|}\t\n\r ']
const ENTITIES = ['&amp;', '&lt;', '&gt;', '&#34;', '&#39;']
const ALL_SPECIALS = [...SPECIALS, ...URL_SPECIALS]
const STAND_INS = ALL_SPECIALS.map((_, index) => String.fromCharCode(0xfdd0 + index))

const ESCAPE = swapsOf(SPECIALS, ENTITIES)
const PROTECT = swapsOf(SPECIALS, STAND_INS)
const PROTECT_URL = swapsOf(ALL_SPECIALS, STAND_INS)
const RESTORE = swapsOf(STAND_INS, ALL_SPECIALS)
const ESCAPE_PROTECTED = swapsOf(STAND_INS.slice(0, SPECIALS.length), ENTITIES)

/** Texts are processed in pieces of this length, because growing a long string is expensive. */
const PIECE_LENGTH = 4096

/** Replaces `& < > " '` by entities; the result is safe between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? swap(text, ESCAPE) : text
}

/** Returns the protected form: each special character of HTML is replaced by its stand-in. */
export function protectSpecials(text: string): string {
  return /[&<>"']/.test(text) ? swap(text, PROTECT) : text
}

/**
 * Returns the protected form of a text in a URL. If the text itself contains a stand-in or a mark
 * (`url-values.ts`), these become U+FFFD, because they must not count as the template's.
 */
export function protectUrlSpecials(text: string): string {
  return text.replace(
    /[\t\n\r !-,/:-@[-^`{-}\ufdd0-\ufdef\ufffe\uffff]/g,
    (char) => PROTECT_URL.get(char) ?? '\ufffd',
  )
}

/**
 * Protects a text that `encodeURI` has encoded: percent-encoded octets stay, and the separators
 * that `encodeURI` leaves are replaced.
 */
export function protectUnencoded(text: string): string {
  return text.replace(/%[\dA-F]{2}|[^%]+/g, (run) =>
    run.startsWith('%') ? run : protectUrlSpecials(run),
  )
}

export function restoreSpecials(text: string): string {
  return /[\ufdd0-\ufdef]/.test(text) ? swap(text, RESTORE) : text
}

/** Replaces stand-ins by entities; all other characters stay. */
export function escapeProtected(text: string): string {
  return /[\ufdd0-\ufdd4]/.test(text) ? swap(text, ESCAPE_PROTECTED) : text
}

/** Whether the text has a special character of HTML or a stand-in. */
export function hasSpecials(text: string): boolean {
  return /[&<>"'\ufdd0-\ufdef]/.test(text)
}

/** Whether the text has a special character of a URL or a stand-in. */
export function hasUrlSpecials(text: string): boolean {
  return /[\t\n\r !-,/:-@[-^`{-}\ufdd0-\ufdef]/.test(text)
}

/**
 * Replaces characters piece by piece. Stops soon after the output limit, because a longer text is
 * never printed or passed to a filter.
 */
function swap(text: string, swaps: Swaps): string {
  if (text.length <= PIECE_LENGTH) return swapPiece(text, swaps)
  const pieces: string[] = []
  let length = 0
  for (let at = 0; at < text.length && length <= MAX_OUTPUT_LENGTH; at += PIECE_LENGTH) {
    const piece = swapPiece(text.slice(at, at + PIECE_LENGTH), swaps)
    pieces.push(piece)
    length += piece.length
  }
  return pieces.join('')
}

function swapPiece(text: string, swaps: Swaps): string {
  let swapped = ''
  let copied = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code > 0x3e && code < 0xfdd0) continue
    const other = swaps.get(text.charAt(at))
    if (other === undefined) continue
    swapped += text.slice(copied, at) + other
    copied = at + 1
  }
  return swapped + text.slice(copied)
}

function swapsOf(from: readonly string[], to: readonly string[]): Swaps {
  return new Map(from.map((char, index) => [char, to[index] ?? '']))
}
