/**
 * Marks in a text that say where something is to be filled in later: characters of Unicode's private
 * use, one for each slot.
 */
import type { Outline } from './slotted-text.ts'

export const anyMark = /[\ue000-\uf8ff]/
/** How many slots there are marks for. */
export const markCount = 0x1900

const everyMark = /[\ue000-\uf8ff]/g
const firstMark = 0xe000

export function hasMarks(text: string): boolean {
  return anyMark.test(text)
}

/** The mark of a slot, counted from 0. */
export function markOf(slot: number): string {
  return String.fromCharCode(firstMark + slot)
}

/** The slots whose marks are in the text, in order. */
export function slotsIn(text: string): number[] {
  return (text.match(everyMark) ?? []).map((mark) => mark.charCodeAt(0) - firstMark)
}

/** The text with gaps in place of its marks. */
export function outlineOf(marked: string): Outline {
  return { pieces: marked.split(anyMark).map(compact), slots: slotsIn(marked) }
}

/** The marks took UTF-16; without them most text needs one octet a character. */
function compact(piece: string): string {
  const isWide = /[^\0-\xff]/.test(piece)
  return isWide ? piece : Buffer.from(piece, 'latin1').toString('latin1')
}
