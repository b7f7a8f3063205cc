/**
 * Which events an endpoint gets: names, with the aliases of clients; `email.*` and the like, for every
 * name that begins so; `*` for all events, tracked ones too.
 */
import { storedEventName } from '../conditions/field.ts'

const ANY = '*'
const ANY_SUFFIX = '.*'

/** Whether a text is a name or a pattern: a `*` is the whole text or its last part. */
export function isEventPattern(text: string): boolean {
  if (text === ANY) return true
  const name = text.endsWith(ANY_SUFFIX) ? text.slice(0, -ANY_SUFFIX.length) : text
  return name !== '' && !name.includes('*')
}

export function createEventMatcher(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes(ANY)) return () => true
  const isPrefix = (text: string) => text.endsWith(ANY_SUFFIX)
  const prefixes = patterns.filter(isPrefix).map((text) => text.slice(0, -1))
  const names = new Set(patterns.filter((text) => !isPrefix(text)).map(storedEventName))
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}
