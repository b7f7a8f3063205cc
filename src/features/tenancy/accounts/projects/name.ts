/**
 * Checks names of projects, which recipients see as the sender: no invisible characters, and no
 * letters that imitate others (UTS 39, in a form that needs no tables). A name may use any script,
 * and its words may use different ones.
 */

import { invalidField, tooLongText } from '../../../../base/errors.ts'
import { normalize } from '../../../../base/nfc.ts'
import { MAX_NAME_LENGTH } from '../../../../records/limits.ts'

/**
 * Characters that cannot be seen: control, format and unassigned characters, all blanks but the
 * space, and the like.
 */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Z}/u

/** Scripts of which some letters look like letters of another script in this list. */
const LOOKALIKE_SCRIPTS = [
  'Latin',
  'Greek',
  'Cyrillic',
  'Armenian',
  'Cherokee',
  'Coptic',
  'Lisu',
].map((script) => new RegExp(`\\p{Script=${script}}`, 'u'))

/**
 * Returns the name as it is stored: trimmed, NFC. `field`: the field of the request that has the name.
 * @throws AppError VALIDATION_ERROR
 */
export function readProjectName(text: string, field = 'name'): string {
  const name = normalize(text.trim())
  if (name === '') throw invalidField(field, 'too_small', 'Must not be empty')
  if (name.length > MAX_NAME_LENGTH) {
    throw invalidField(field, 'too_big', tooLongText(MAX_NAME_LENGTH))
  }
  if (INVISIBLE.test(name) || /^\p{M}/u.test(name)) {
    throw invalidField(field, 'custom', 'Must not contain control or invisible characters')
  }
  if (hasCompatibilityForm(name) || name.split(/[^\p{L}\p{M}\p{N}]+/u).some(isMixed)) {
    throw invalidField(field, 'custom', 'Must not contain characters that look like others')
  }
  return name
}

/** Whether the name has variants of letters or digits: full width, mathematical, ligatures. */
function hasCompatibilityForm(name: string): boolean {
  const letters = name.match(/[\p{L}\p{Nd}\p{Nl}]/gu) ?? []
  return letters.some((letter) => normalize(letter, 'NFKC') !== letter)
}

function isMixed(word: string): boolean {
  return LOOKALIKE_SCRIPTS.filter((script) => script.test(word)).length > 1
}
