/**
 * The five characters that matter in HTML, their entities, and their inks: noncharacters of
 * Unicode that stand for them in marked text (see stored.ts).
 */
import { MAX_OUTPUT_LENGTH } from './limits.ts'

type Swaps = ReadonlyMap<string, string>

const SPECIALS = ['&', '<', '>', '"', "'"]
const ENTITIES = ['&amp;', '&lt;', '&gt;', '&#34;', '&#39;']
const inks = ['\ufdd0', '\ufdd1', '\ufdd2', '\ufdd3', '\ufdd4']

const escapes = swapsOf(SPECIALS, ENTITIES)
const inkings = swapsOf(SPECIALS, inks)
const unInkings = swapsOf(inks, SPECIALS)
const settlings = swapsOf(inks, ENTITIES)

/** Texts are worked on in pieces of this length: long strings are dear to grow. */
const PIECE_LENGTH = 4096

/** The text with `& < > " '` as entities: safe between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? swap(text, escapes) : text
}

/** The inked form: the special characters replaced, one for one. */
export function ink(text: string): string {
  return /[&<>"']/.test(text) ? swap(text, inkings) : text
}

export function unink(text: string): string {
  return /[\ufdd0-\ufdd4]/.test(text) ? swap(text, unInkings) : text
}

/** Inked characters as entities, all others as they are. */
export function settle(text: string): string {
  return /[\ufdd0-\ufdd4]/.test(text) ? swap(text, settlings) : text
}

/** Whether the text has a special character, inked or not. */
export function hasSpecials(text: string): boolean {
  return /[&<>"'\ufdd0-\ufdd4]/.test(text)
}

/** Ends soon after the output limit: nothing longer is ever printed or handed to a filter. */
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
