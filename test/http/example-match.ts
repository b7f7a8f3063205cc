/**
 * Compares responses with examples. Ids, instants and keys differ in each run: an id of the examples
 * is bound to the id at the same place of the first response, and must then match everywhere.
 */
import assert from 'node:assert/strict'

/** From an id of the examples to the real one. */
export type Bindings = Map<string, string>

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const INSTANT = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z'
const EPOCH_MS = '(?<=-)\\d{13}'
const SELECTOR = 'pb[0-9a-f]{10}'
/** The name of an uploaded image depends on its project. */
const IMAGE = '[0-9a-f]{32}\\.png'
/** Means any text in an example. */
const ANY = '…'
const variable = new RegExp(`${UUID}|${INSTANT}|${EPOCH_MS}|${SELECTOR}|${IMAGE}|${ANY}`, 'g')
/**
 * The parts of an example that differ in each run: ids, the time in the id of a job, DKIM selectors,
 * names of images.
 */
const own = new RegExp(`${UUID}|${EPOCH_MS}|${SELECTOR}|${IMAGE}`, 'g')
const ownPatterns = [UUID, '\\d{13}', SELECTOR, IMAGE]

/** The example with the ids of this run. */
export function bind<T>(value: T, bindings: Bindings): T {
  const text = JSON.stringify(value)
  if (text === undefined) return value
  return JSON.parse(text.replace(own, (id) => bindings.get(id) ?? id))
}

/** Binds the ids of an example to those at the same places of a response that may differ otherwise. */
export function bindIds(example: unknown, actual: unknown, bindings: Bindings): void {
  if (typeof example === 'string' && typeof actual === 'string') {
    const [named, made] = [example, actual].map((text) => text.match(own) ?? [])
    if (named?.length !== made?.length) return
    for (const [index, id] of (named ?? []).entries()) bindings.set(id, made?.[index] ?? '')
  }
  if (typeof example !== 'object' || example === null) return
  for (const [key, value] of Object.entries(example)) bindIds(value, Object(actual)[key], bindings)
}

/** @throws AssertionError with the path of the first difference */
export function match(example: unknown, actual: unknown, bindings: Bindings, at = ''): void {
  if (typeof example === 'string') {
    assert.equal(typeof actual, 'string', at)
    matchText(example, String(actual), bindings, at)
    return
  }
  if (typeof example !== 'object' || example === null) {
    // A duration differs in each run.
    if (at.endsWith('Ms') && typeof example === 'number') {
      assert.ok(Number(actual) >= 0, at)
      return
    }
    assert.equal(actual, example, at)
    return
  }
  assert.ok(typeof actual === 'object' && actual !== null, at)
  assert.equal(Array.isArray(actual), Array.isArray(example), at)
  assert.deepEqual(Object.keys(actual), Object.keys(example), at)
  for (const [key, value] of Object.entries(example)) {
    match(value, Object(actual)[key], bindings, `${at}.${key}`)
  }
}

function matchText(example: string, actual: string, bindings: Bindings, at: string): void {
  const kinds: string[] = []
  const pattern = example.split(variable).map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  for (const [found] of example.matchAll(variable)) kinds.push(found)
  const source = pattern.map((text, index) => text + patternOf(kinds[index])).join('')
  const found = new RegExp(`^${source}$`, 's').exec(actual)
  assert.ok(found, `${at}: ${actual} is not like ${example}`)
  for (const [index, kind] of kinds.entries()) {
    if (ownPattern(kind) !== undefined) bindId(kind, found[index + 1] ?? '', bindings, at)
  }
}

function patternOf(kind: string | undefined): string {
  if (kind === undefined) return ''
  if (kind === ANY) return '(.*)'
  return `(${ownPattern(kind) ?? INSTANT})`
}

function ownPattern(text: string): string | undefined {
  return ownPatterns.find((pattern) => new RegExp(`^${pattern}$`).test(text))
}

function bindId(example: string, actual: string, bindings: Bindings, at: string): void {
  const known = bindings.get(example)
  if (known === undefined) bindings.set(example, actual)
  else assert.equal(actual, known, `${at}: ${example} is another id than before`)
}
