/**
 * A second implementation of conditions, from their specification: one contact at a time, in
 * memory, slowly. Tests compare the compiled SQL with it.
 */
import type { Condition } from '../../../../src/features/ground/conditions/condition.ts'
import type { Filter } from '../../../../src/features/ground/conditions/filter.ts'

export type TestContact = {
  id: string
  email: string
  subscribed: boolean
  data: Record<string, unknown> | null
  createdAt: number
  updatedAt: number
}

export type TestEvent = {
  contactId: string
  name: string
  at: number
  /** A transient bounce, or received mail of a machine. */
  isLeftOut: boolean
}

export type TestSegment = {
  id: string
  type: 'STATIC' | 'DYNAMIC'
  hasMembershipEvents: boolean
  condition: Condition | null
  /** The current members, of segments with member rows. */
  members: string[]
}

export type Population = {
  now: number
  contacts: TestContact[]
  events: TestEvent[]
  segments: TestSegment[]
}

const storedNames: Record<string, string> = {
  delivered: 'delivery',
  opened: 'open',
  clicked: 'click',
  bounced: 'bounce',
  complained: 'complaint',
}

export function matches(
  population: Population,
  condition: Condition,
  person: TestContact,
): boolean {
  return judge(population, condition, person) === true
}

/** Undefined for what cannot be judged, in the logic of Kleene. */
type Verdict = boolean | undefined

function judge(population: Population, condition: Condition, person: TestContact): Verdict {
  const results = condition.groups.map((group) => {
    const all = group.filters.map((filter) => holds(population, filter, person))
    if (group.conditions) all.push(judge(population, group.conditions, person))
    return both(all)
  })
  return condition.logic === 'AND' ? both(results) : negate(both(results.map(negate)))
}

function both(verdicts: Verdict[]): Verdict {
  if (verdicts.includes(false)) return false
  return verdicts.includes(undefined) ? undefined : true
}

function negate(verdict: Verdict): Verdict {
  return verdict === undefined ? undefined : !verdict
}

function holds(population: Population, filter: Filter, person: TestContact): Verdict {
  const { field, operator, value } = filter
  if (/trigger/i.test(operator)) return hasHappened(population, filter, person)
  if (field === 'email') return onEmail(operator, person.email, value)
  if (field === 'subscribed') return (person.subscribed === value) === (operator === 'equals')
  const cutoff = population.now - span(filter)
  if (field === 'createdAt' || field === 'updatedAt') {
    return onInstant(operator, person[field], { value, cutoff })
  }
  if (field.startsWith('segment.')) {
    const isMember = belongs(population, field.slice('segment.'.length), person)
    return operator === 'memberOfSegment' ? isMember : negate(isMember)
  }
  const key = field.slice('data.'.length)
  const has = person.data !== null && Object.hasOwn(person.data, key)
  return onData(operator, has ? person.data?.[key] : undefined, { value, cutoff })
}

function span({ value, unit }: Filter): number {
  if (unit === undefined) return 0
  return Number(value) * { minutes: 60, hours: 60 * 60, days: 24 * 60 * 60 }[unit] * 1000
}

function onEmail(operator: string, email: string, given: unknown): boolean {
  if (Array.isArray(given)) {
    return given.some((one) => email === String(one).toLowerCase()) === (operator === 'in')
  }
  const value = String(given).toLowerCase()
  if (operator === 'equals') return email === value
  if (operator === 'notEquals') return email !== value
  if (operator === 'contains') return email.includes(value)
  if (operator === 'notContains') return !email.includes(value)
  throw new TypeError(operator)
}

type Operand = { value: unknown; cutoff: number }

function onInstant(operator: string, at: number, { value, cutoff }: Operand): boolean {
  if (operator === 'within') return at >= cutoff
  if (operator === 'olderThan') return at < cutoff
  const instant = instantOf(String(value)) ?? Number.NaN
  const isSameDay = dayOf(at) === dayOf(instant)
  if (operator === 'equals') return isSameDay
  if (operator === 'notEquals') return !isSameDay
  return compares(operator, at - instant)
}

function onData(operator: string, actual: unknown, { value, cutoff }: Operand): Verdict {
  const isMissing = actual === undefined || actual === null
  if (operator === 'exists') return !isMissing
  if (operator === 'notExists') return isMissing
  if (isMissing) return false
  if (operator === 'equals') return isScalar(actual) ? equals(actual, value) : undefined
  if (operator === 'notEquals') return isScalar(actual) ? !equals(actual, value) : undefined
  if (operator === 'contains') return hasPart(actual, value)
  if (operator === 'notContains') return negate(hasPart(actual, value))
  if (operator === 'in') return isOneOf(actual, value as unknown[])
  if (operator === 'notIn') return negate(isOneOf(actual, value as unknown[]))
  if (operator === 'within' || operator === 'olderThan') {
    if (typeof actual !== 'string' || !/^\d{4}-\d\d-\d\d(?:T|$)/.test(actual)) return undefined
    // As text, to the second; a date alone is its midnight.
    const full = actual.length === 10 ? `${actual}T00:00:00.000Z` : actual
    const isRecent = compareTexts(full, new Date(cutoff).toISOString().slice(0, 19)) >= 0
    return isRecent === (operator === 'within')
  }
  if (typeof actual === 'string' && typeof value === 'string') {
    return compares(operator, compareTexts(actual, value))
  }
  if (typeof actual !== 'number' || typeof value !== 'number') return undefined
  return compares(operator, actual < value ? -1 : Number(actual > value))
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object'
}

function hasPart(actual: unknown, part: unknown): Verdict {
  if (Array.isArray(actual)) return actual.some((element) => element === part)
  return typeof actual === 'string' ? actual.includes(String(part)) : undefined
}

function isOneOf(actual: unknown, values: unknown[]): Verdict {
  if (Array.isArray(actual)) return actual.some((element) => values.includes(element))
  return isScalar(actual) ? values.some((value) => equals(actual, value)) : undefined
}

function equals(actual: unknown, value: unknown): boolean {
  const instant = typeof value === 'string' ? instantOf(value) : undefined
  if (instant === undefined || typeof actual !== 'string') return actual === value
  return actual === dayOf(instant) || actual.startsWith(`${dayOf(instant)}T`)
}

function compares(operator: string, order: number): boolean {
  if (operator === 'greaterThan') return order > 0
  if (operator === 'lessThan') return order < 0
  if (operator === 'greaterThanOrEqual') return order >= 0
  if (operator === 'lessThanOrEqual') return order <= 0
  throw new TypeError(operator)
}

/** By code points, unlike JavaScript's own order. */
function compareTexts(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** Undefined for a text that is not a date of the calendar. */
function instantOf(text: string): number | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d.*)?$/.exec(text)
  if (match === null) return undefined
  const [, year, month, day, time] = match
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day))
    return undefined
  if (time === undefined) return date.getTime()
  const instant = Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`)
  return Number.isNaN(instant) ? undefined : instant
}

function dayOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10)
}

function hasHappened(population: Population, filter: Filter, person: TestContact): boolean {
  const name = eventName(filter.field)
  const times = population.events
    .filter((event) => event.contactId === person.id && event.name === name)
    .filter((event) => !(['email.bounce', 'email.received'].includes(name) && event.isLeftOut))
    .map(({ at }) => at)
  const cutoff = population.now - span(filter)
  const isRecent = times.some((at) => at >= cutoff)
  switch (filter.operator) {
    case 'triggered':
      return times.length > 0
    case 'notTriggered':
      return times.length === 0
    case 'triggeredWithin':
      return isRecent
    case 'notTriggeredWithin':
      return !isRecent
    case 'triggeredOlderThan':
      return times.length > 0 && !isRecent
    default:
      throw new TypeError(filter.operator)
  }
}

function eventName(field: string): string {
  const name = field.startsWith('event.') ? field.slice('event.'.length) : field
  if (!name.startsWith('email.')) return name
  const activity = name.slice('email.'.length)
  return `email.${storedNames[activity] ?? activity}`
}

function belongs(population: Population, id: string, person: TestContact): Verdict {
  const segment = population.segments.find((candidate) => candidate.id === id)
  if (segment === undefined) throw new TypeError(`no segment ${id}`)
  if (segment.type === 'STATIC' || segment.hasMembershipEvents) {
    if (segment.members.includes(person.id)) return true
    // The members of the last computation; who has no answer is no less unknown.
    if (segment.condition === null) return false
    return judge(population, segment.condition, person) === undefined ? undefined : false
  }
  if (segment.condition === null) throw new TypeError(`no condition of ${id}`)
  return judge(population, segment.condition, person)
}
