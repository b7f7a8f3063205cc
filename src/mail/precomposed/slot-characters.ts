/**
 * Marks in a text that say where something is to be filled in later: characters of Unicode's private
 * use, one for each slot.
 */
import type { SlottedText } from './slotted-text.ts'

export const SLOT_CHARACTER = /[\ue000-\uf8ff]/
/** How many slots there are marks for. */
export const MAX_SLOTS = 0x1900

const SLOT_CHARACTERS = /[\ue000-\uf8ff]/g
const FIRST_SLOT_CHARACTER = 0xe000

export function hasSlots(text: string): boolean {
  return SLOT_CHARACTER.test(text)
}

/** The mark of a slot, counted from 0. */
export function slotCharacter(slot: number): string {
  return String.fromCharCode(FIRST_SLOT_CHARACTER + slot)
}

/** The slots whose marks are in the text, in order. */
export function listSlots(text: string): number[] {
  return (text.match(SLOT_CHARACTERS) ?? []).map(
    (mark) => mark.charCodeAt(0) - FIRST_SLOT_CHARACTER,
  )
}

/** The text with gaps in place of its marks. */
export function splitAtSlots(marked: string): SlottedText {
  return { pieces: marked.split(SLOT_CHARACTER).map(compact), slots: listSlots(marked) }
}

/** The marks took UTF-16; without them most text needs one octet a character. */
function compact(piece: string): string {
  const isWide = /[^\0-\xff]/.test(piece)
  return isWide ? piece : Buffer.from(piece, 'latin1').toString('latin1')
}
