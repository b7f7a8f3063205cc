/**
 * Slot characters: characters from Unicode's private use area that stand for values in a text until
 * they are filled in, one character per value.
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

/** The slots in the text, in order. */
export function listSlots(text: string): number[] {
  return (text.match(SLOT_CHARACTERS) ?? []).map(
    (character) => character.charCodeAt(0) - FIRST_SLOT_CHARACTER,
  )
}

/** Splits a text at its slot characters. */
export function splitAtSlots(text: string): SlottedText {
  return { pieces: text.split(SLOT_CHARACTER).map(compact), slots: listSlots(text) }
}

/** Slot characters force UTF-16; without them most text needs one octet per character. */
function compact(piece: string): string {
  const isWide = /[^\0-\xff]/.test(piece)
  return isWide ? piece : Buffer.from(piece, 'latin1').toString('latin1')
}
