/**
 * Names of projects, which recipients see as the sender: nothing invisible, and no letters that
 * only look like others (contract 3.12; the tests are those of UTS 39, in a form that needs no
 * tables). Names in any script are welcome, and so are several scripts in one name, word by word.
 */
import { invalidField } from '../../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'

/** Controls, format and unassigned characters, blanks other than the space, and the like. */
const invisible = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Z}/u

/** Scripts whose letters are taken for one another's. */
const alike = ['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Cherokee', 'Coptic', 'Lisu'].map(
  (script) => new RegExp(`\\p{Script=${script}}`, 'u'),
)

/** The name as it is stored: trimmed, NFC. @throws AppError VALIDATION_ERROR */
export function readProjectName(text: string): string {
  const name = text.trim().normalize('NFC')
  if (name === '') throw invalidField('name', 'too_small', 'Must not be empty')
  if (name.length > MAX_NAME_LENGTH) {
    throw invalidField('name', 'too_big', `Must be at most ${MAX_NAME_LENGTH} characters long`)
  }
  if (invisible.test(name) || /^\p{M}/u.test(name)) {
    throw invalidField('name', 'custom', 'Must not contain control or invisible characters')
  }
  if (hasStandIn(name) || name.split(/[^\p{L}\p{M}\p{N}]+/u).some(isMixed)) {
    throw invalidField('name', 'custom', 'Must not contain characters that look like others')
  }
  return name
}

/** Letters and digits in a form of their own: full width, mathematical, ligatures. */
function hasStandIn(name: string): boolean {
  const letters = name.match(/[\p{L}\p{Nd}\p{Nl}]/gu) ?? []
  return letters.some((letter) => letter.normalize('NFKC') !== letter)
}

function isMixed(word: string): boolean {
  return alike.filter((script) => script.test(word)).length > 1
}
