/**
 * Slot characters: characters of Unicode's private use area, one for each value, that stand in a
 * text until the values are filled in.
 */
import type { SlottedText } from './slotted-text.ts'

export const SLOT_CHARACTER = /[\ue000-\uf8ff]/
/** Number of available slot characters. */
export const MAX_SLOTS = 0x1900

const SLOT_CHARACTERS = /[\ue000-\uf8ff]/g
const FIRST_SLOT_CHARACTER = 0xe000

export function hasSlots(text: string): boolean {
  return SLOT_CHARACTER.test(text)
}

/** The character of a slot, numbered from 0. */
export function slotCharacter(slot: number): string {
  return String.fromCharCode(FIRST_SLOT_CHARACTER + slot)
}

/** Lists the numbers of the slots in the text, in order. */
export function listSlots(text: string): number[] {
  return (text.match(SLOT_CHARACTERS) ?? []).map(
    (character) => character.charCodeAt(0) - FIRST_SLOT_CHARACTER,
  )
}

/** Splits a text at its slot characters. */
export function splitAtSlots(text: string): SlottedText {
  return { pieces: text.split(SLOT_CHARACTER).map(compact), slots: listSlots(text) }
}

/**
 * A slot character makes a string UTF-16. Pieces without slot characters are stored again, most of
 * them with one octet per character.
 */
function compact(piece: string): string {
  const isWide = /[^\0-\xff]/.test(piece)
  return isWide ? piece : Buffer.from(piece, 'latin1').toString('latin1')
}
