import { MAX_NAME_LENGTH } from '../../records/limits.ts'

const SUFFIX = ' (Copy)'

/**
 * Returns the name of a copy. Shortens a name that the suffix would make too long, never within a
 * character.
 */
export function copyName(name: string): string {
  let shortened = name
  while (shortened.length + SUFFIX.length > MAX_NAME_LENGTH)
    shortened = Array.from(shortened).slice(0, -1).join('')
  return shortened + SUFFIX
}
