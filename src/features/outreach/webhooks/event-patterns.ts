/**
 * Which events an endpoint gets: names, with the aliases of clients; `email.*` and the like, for every
 * name that begins so; `*` for all events, tracked ones too.
 */
import { storedEventName } from '../../ground/conditions/field.ts'
import { faultInServiceName } from '../../ground/conditions/service-name.ts'

const ANY = '*'
const MAX_SHOWN = 60
const ANY_SUFFIX = '.*'

/** What is wrong with a name or a pattern, whose `*` is the whole text or its last part. */
export function faultInPattern(text: string): string | undefined {
  if (text === ANY) return undefined
  const isPattern = text.endsWith(ANY_SUFFIX)
  const name = isPattern ? text.slice(0, -ANY_SUFFIX.length) : text
  if (name === '' || name.includes('*')) {
    return 'Expected the name of an event, a beginning such as email.*, or *'
  }
  // Names of the service have two parts: nothing begins with one of them.
  return isPattern && name.startsWith('email.')
    ? `No event begins with ${name.slice(0, MAX_SHOWN)}.`
    : faultInServiceName(name)
}

export function createEventMatcher(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes(ANY)) return () => true
  const isPrefix = (text: string) => text.endsWith(ANY_SUFFIX)
  const prefixes = patterns.filter(isPrefix).map((text) => text.slice(0, -1))
  const names = new Set(patterns.filter((text) => !isPrefix(text)).map(storedEventName))
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}
