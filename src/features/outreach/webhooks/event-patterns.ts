/**
 * The patterns by which an endpoint subscribes to events: names, with the aliases of clients;
 * `email.*` and the like, for every name with this beginning; `*` for all events, tracked ones too.
 *
 * Some patterns may not bring the events that their author expects: names that no delivery has as
 * its type, and names that seem to be misspelt. They are accepted with a warning, because projects
 * may track events of any name.
 */
import { type Effort, findClosest, newEffort } from '../../../config/layers/closest.ts'
import { UNLISTED_EVENTS } from '../../../records/words.ts'
import type { Base } from '../../ground/base.ts'
import { MAIL_ACTIVITIES, storedEventName } from '../../ground/conditions/field.ts'
import { faultInServiceName } from '../../ground/conditions/service-name.ts'
import { listNames } from '../../ground/events/names.ts'
import { OWN_EVENTS } from '../../ground/events/reserved.ts'

const ANY_EVENT = '*'
const MAX_SHOWN = 60
const ANY_SUFFIX = '.*'

type WeakPattern = { message: string; suggestion: string | null }

/** The first parts of the names of the service's own events. */
const BEGINNINGS = ['email', 'contact', 'segment', 'campaign', 'workflow', 'webhook']

const SERVICE_EVENTS: readonly string[] = [
  ...new Set(MAIL_ACTIVITIES.values()),
  ...UNLISTED_EVENTS,
  ...['email.received', 'contact.subscribed', 'contact.unsubscribed'],
  ...OWN_EVENTS,
]

/** In a project with more event names than this, no pattern is reported as unknown. */
const MAX_NAMES = 1_000

/**
 * Returns the fault of a name or a pattern; undefined without a fault. The `*` of a pattern must be
 * the whole text or its last part.
 */
export function faultInPattern(text: string): string | undefined {
  if (text === ANY_EVENT) return undefined
  const isPattern = text.endsWith(ANY_SUFFIX)
  const name = isPattern ? text.slice(0, -ANY_SUFFIX.length) : text
  if (name === '' || name.includes('*')) {
    return 'Expected the name of an event, a beginning such as email.*, or *'
  }
  // The name of a mail event has two parts, so no name begins with `email.opened.`, for example.
  return isPattern && name.startsWith('email.')
    ? `No event begins with ${name.slice(0, MAX_SHOWN)}.`
    : faultInServiceName(name)
}

export function createEventMatcher(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes(ANY_EVENT)) return () => true
  const isPrefix = (text: string) => text.endsWith(ANY_SUFFIX)
  const prefixes = patterns.filter(isPrefix).map((text) => text.slice(0, -1))
  const names = new Set(patterns.filter((text) => !isPrefix(text)).map(storedEventName))
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}

/** Returns the patterns that deserve a warning, with their warnings. */
export async function findWeakPatterns(
  deps: Pick<Base, 'store'>,
  projectId: string,
  patterns: readonly string[],
): Promise<Map<string, WeakPattern>> {
  const weak = new Map<string, WeakPattern>()
  const unknown: string[] = []
  for (const pattern of patterns) {
    const stored = storedEventName(pattern)
    if (stored !== pattern) {
      const message = `The deliveries have the type ${stored}.`
      weak.set(pattern, { message, suggestion: stored })
    } else if (!isOfService(pattern)) unknown.push(pattern)
  }
  if (unknown.length === 0) return weak
  const names = await listNames(deps, { projectId, limit: MAX_NAMES })
  if (names.length >= MAX_NAMES) return weak
  const effort = newEffort()
  for (const pattern of unknown) {
    const found = findMisspelling(pattern, names, effort)
    if (found !== undefined) weak.set(pattern, found)
  }
  return weak
}

/**
 * Whether the pattern is for events of the service. The events of segments have rules of their own.
 */
function isOfService(pattern: string): boolean {
  if (pattern === '*' || pattern.startsWith('segment.')) return true
  if (SERVICE_EVENTS.includes(pattern)) return true
  return pattern.endsWith(ANY_SUFFIX) && BEGINNINGS.includes(pattern.slice(0, -ANY_SUFFIX.length))
}

function findMisspelling(
  pattern: string,
  names: readonly string[],
  effort: Effort,
): WeakPattern | undefined {
  const isRecorded = pattern.endsWith(ANY_SUFFIX)
    ? names.some((name) => name.startsWith(pattern.slice(0, -1)))
    : names.includes(pattern)
  if (isRecorded) return undefined
  const suggestion = meantBy(pattern, names, effort) ?? null
  const [beginning = ''] = pattern.toLowerCase().split('.', 1)
  if (suggestion === null && !BEGINNINGS.includes(beginning)) return undefined
  const hint = suggestion === null ? '' : ` Did you mean ${suggestion}?`
  const message = `The service makes no such event, and none has been tracked here.${hint}`
  return { message, suggestion }
}

function meantBy(pattern: string, names: readonly string[], effort: Effort): string | undefined {
  const lower = pattern.toLowerCase()
  if (BEGINNINGS.includes(lower)) return `${lower}${ANY_SUFFIX}`
  const isPattern = pattern.endsWith(ANY_SUFFIX)
  const beginnings = BEGINNINGS.map((each) => `${each}${ANY_SUFFIX}`)
  const known = isPattern ? beginnings : [...SERVICE_EVENTS, ...names]
  return known.find((name) => name.toLowerCase() === lower) ?? findClosest(lower, known, effort)
}
