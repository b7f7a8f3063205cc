/** Values that a file or the environment sets, before validation. */

import type { ConfigProblem } from '../problems.ts'
import { writableKeys } from '../settings.ts'
import { findClosest, findNearest } from './closest.ts'

export type GivenValue = {
  /** A TOML value. */
  value: unknown
  /** The file or the environment variable that sets the value. */
  where: string
}

/** Values by key, including `<key>_file`. */
export type ConfigLayer = {
  given: ReadonlyMap<string, GivenValue>
  problems: readonly ConfigProblem[]
}

export function unknownKey(key: string, where: string): ConfigProblem {
  const problem = { key, found: 'an unknown key', expected: 'one that exists', where }
  const meant = findMeant(key)
  return meant === undefined ? problem : { ...problem, meant }
}

/** Names that other programs give to the address of a listener, and to our own URL. */
const OF_LISTENERS: readonly string[] = ['port', 'host', 'bind', 'address', 'addr', 'interface']
const OF_BASE_URL: readonly string[] = ['url', 'public_url', 'app_url', 'host_url']
const SECTIONS_OF_BASE_URL: readonly string[] = ['', 'http', 'app', 'server']
/** Names that other programs give to the parts of a URL. */
const OF_URLS: readonly string[] = [...OF_LISTENERS, 'user', 'password', 'name', 'path']

const SECTIONS: readonly string[] = [
  ...new Set(
    writableKeys.flatMap((key) =>
      key
        .split('.')
        .slice(0, -1)
        .map((_, at, parts) => parts.slice(0, at + 1).join('.')),
    ),
  ),
]

/**
 * The key that was probably meant. In this order: the key of a listener or a URL; a key of the section with
 * the same last part; a similar key; a key of another section with the same last part; a section.
 */
function findMeant(key: string): string | undefined {
  const section = key.slice(0, Math.max(0, key.lastIndexOf('.')))
  const last = key.slice(key.lastIndexOf('.') + 1)
  if (SECTIONS_OF_BASE_URL.includes(section) && OF_BASE_URL.includes(last)) return 'base_url'
  const listener = `${section === '' ? 'http' : section}.listen`
  if (OF_LISTENERS.includes(last) && writableKeys.includes(listener)) return listener
  const url = `${section}.url`
  if (OF_URLS.includes(last) && writableKeys.includes(url)) return url
  const same = writableKeys.filter((known) => known === last || known.endsWith(`.${last}`))
  const below = same.find((known) => known.startsWith(`${section}.`))
  const known = below ?? findClosest(key, writableKeys) ?? same[0]
  return known ?? findSection(key.toLowerCase())
}

/**
 * The section that was probably meant. Only sections with the same first letter count, because short names
 * resemble too many words, such as `foo`, `smtp` and `cache`.
 */
function findSection(name: string): string | undefined {
  const limitOf = (section: string) => {
    if (section[0] !== name[0]) return -1
    const length = Math.min(name.length, section.length)
    return length <= 4 ? 1 : Math.max(2, Math.floor(length / 4))
  }
  return findNearest(name, SECTIONS, { limitOf })
}
