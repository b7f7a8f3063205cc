/**
 * The five characters that are special in HTML, their entities, and their stand-ins: noncharacters
 * of Unicode that replace them in the protected form of tainted text (see tainted.ts).
 */
import { MAX_OUTPUT_LENGTH } from './limits.ts'

type Swaps = ReadonlyMap<string, string>

const SPECIALS = ['&', '<', '>', '"', "'"]
const ENTITIES = ['&amp;', '&lt;', '&gt;', '&#34;', '&#39;']
const STAND_INS = ['\ufdd0', '\ufdd1', '\ufdd2', '\ufdd3', '\ufdd4']

const ESCAPE = swapsOf(SPECIALS, ENTITIES)
const PROTECT = swapsOf(SPECIALS, STAND_INS)
const RESTORE = swapsOf(STAND_INS, SPECIALS)
const ESCAPE_PROTECTED = swapsOf(STAND_INS, ENTITIES)

/** Texts are processed in pieces of this length, because growing a long string is expensive. */
const PIECE_LENGTH = 4096

/** The text with `& < > " '` as entities: safe between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? swap(text, ESCAPE) : text
}

/** The protected form: special characters replaced by their stand-ins, one for one. */
export function protectSpecials(text: string): string {
  return /[&<>"']/.test(text) ? swap(text, PROTECT) : text
}

export function restoreSpecials(text: string): string {
  return /[\ufdd0-\ufdd4]/.test(text) ? swap(text, RESTORE) : text
}

/** Stand-ins as entities, all other characters unchanged. */
export function escapeProtected(text: string): string {
  return /[\ufdd0-\ufdd4]/.test(text) ? swap(text, ESCAPE_PROTECTED) : text
}

/** Whether the text has a special character or a stand-in. */
export function hasSpecials(text: string): boolean {
  return /[&<>"'\ufdd0-\ufdd4]/.test(text)
}

/** Stops soon after the output limit: a text above it is never printed or passed to a filter. */
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
