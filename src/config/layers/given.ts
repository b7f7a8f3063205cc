/** Values that a file or the environment sets, before validation. */

import type { Problem } from '../problems.ts'
import { writableKeys } from '../settings.ts'
import { findClosest } from './closest.ts'

export type Given = {
  /** A TOML value. */
  value: unknown
  /** The file or the environment variable that sets the value. */
  where: string
}

/** Values by key, including `<key>_file`. */
export type Layer = { given: ReadonlyMap<string, Given>; problems: readonly Problem[] }

export function unknownKey(key: string, where: string): Problem {
  const problem = { key, found: 'an unknown key', expected: 'one that exists', where }
  const meant = findMeant(key)
  return meant === undefined ? problem : { ...problem, meant }
}

/** A key with a similar name or the same last part. */
function findMeant(key: string): string | undefined {
  const close = findClosest(key, writableKeys)
  if (close !== undefined) return close
  const last = key.slice(key.lastIndexOf('.') + 1)
  return writableKeys.find((known) => known.endsWith(`.${last}`) || known === last)
}
