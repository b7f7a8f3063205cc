/** Compares values with shapes of the specification. */
import type { Shape } from './specification.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const WORDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  any: () => true,
  null: (value) => value === null,
  true: (value) => value === true,
  boolean: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  uuid: (value) => typeof value === 'string' && UUID.test(value),
  instant: (value) => typeof value === 'string' && INSTANT.test(value),
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  count: (value) => Number.isInteger(value) && Number(value) >= 0,
  list: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

/** The places where the value is not of the shape, as texts; none if it is. */
export function findDifferences(shape: Shape, value: unknown, at = 'body'): string[] {
  if (typeof shape === 'string') return isOneOf(shape, value) ? [] : [difference(shape, value, at)]
  if (isList(shape)) {
    if (!Array.isArray(value)) return [difference('list', value, at)]
    return value.flatMap((item, index) => findDifferences(shape[0], item, `${at}[${index}]`))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [difference('object', value, at)]
  }
  return Object.entries(shape).flatMap(([key, inner]) => {
    const name = key.replace(/\?$/, '')
    if (Object.hasOwn(value, name)) {
      return findDifferences(inner, Object(value)[name], `${at}.${name}`)
    }
    return key.endsWith('?') ? [] : [`${at}.${name} is absent`]
  })
}

/** Adds the shapes of the items that the lists of `value` have. */
export function noteItems(shape: Shape, value: unknown, seen: Set<Shape>): void {
  if (typeof shape === 'string') return
  if (isList(shape)) {
    for (const item of Array.isArray(value) ? value : []) {
      seen.add(shape[0])
      noteItems(shape[0], item, seen)
    }
    return
  }
  for (const [key, inner] of Object.entries(shape)) {
    noteItems(inner, Object(value)[key.replace(/\?$/, '')], seen)
  }
}

/** The shapes of items that the shape has. */
export function listItems(shape: Shape): Shape[] {
  if (typeof shape === 'string') return []
  if (isList(shape)) return typeof shape[0] === 'string' ? [] : [shape[0], ...listItems(shape[0])]
  return Object.values(shape).flatMap(listItems)
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape)
}

function isOneOf(words: string, value: unknown): boolean {
  return words.split(' | ').some((word) => {
    const test = WORDS[word]
    if (test === undefined) throw new TypeError(`${word} is no word of shapes`)
    return test(value)
  })
}

function difference(expected: string, value: unknown, at: string): string {
  return `${at} is ${JSON.stringify(value)?.slice(0, 80)}, and should be: ${expected}`
}
