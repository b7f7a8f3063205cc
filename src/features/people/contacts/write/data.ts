/**
 * The rules for contact data, the same for send, track, contacts and imports.
 *
 * A value is stored under its key. Null deletes the key; an empty string is ignored; an object
 * `{ value, persistent: false }` serves one call and is not stored; reserved keys are dropped. The
 * merge is shallow. A contact without data has null.
 *
 * The data of a request and of a contact is at most 64 KB of JSON each, nested at most 20 levels
 * deep. A contact has at most 500 keys. A key has 1 to 255 characters and no control characters.
 */
import { type AppError, type FieldError, invalid, invalidField } from '../../../../base/errors.ts'
import { isDeeperThan } from '../../../../base/json-text.ts'
import type { ContactData } from '../../../../store/schema/json-values.ts'
import { isNonPersistent } from '../../../ground/events/non-persistent.ts'

/**
 * Names of Pillarbox's own variables in templates: the data of a contact cannot have these keys.
 */
export const RESERVED_KEYS: ReadonlySet<string> = new Set([
  'id',
  'email',
  'pillarbox_id',
  'pillarbox_email',
  'svc_id',
  'svc_email',
  'unsubscribeUrl',
  'subscribeUrl',
  'manageUrl',
])

const MAX_BYTES = 64 * 1024
const MAX_KEYS = 500
export const MAX_KEY_LENGTH = 255
const MAX_DEPTH = 20
/** SQLite reads a key only up to its first NUL; the other control characters have no use in a key. */
const CONTROL_CHARACTER = /[\x00-\x1f\x7f]/
/** The number of characters of a faulty key that an error shows. */
const MAX_SHOWN = 60

export type ParsedData = {
  /** Values to store; null deletes the key. */
  changes: ContactData
  /**
   * Values for the templates of this call: those to store, and the `value` of each object that
   * serves this call only.
   */
  variables: ContactData
}

/**
 * Parses the `data` of a request. Anything but an object counts as no data.
 * @throws AppError VALIDATION_ERROR with the path: too large, too deep, a bad key, a number that JSON
 *   cannot represent, a `locale` that is not a string; more keys than a contact may have
 */
export function parseData(data: unknown): ParsedData {
  checkData(data)
  const changes: [string, unknown][] = []
  const variables: [string, unknown][] = []
  for (const [key, value] of entriesOf(data)) {
    if (RESERVED_KEYS.has(key) || value === '') continue
    if (key === 'locale') checkLocale(isNonPersistent(value) ? value.value : value)
    if (isNonPersistent(value)) {
      if (value.value !== null && value.value !== '') variables.push([key, value.value])
      continue
    }
    changes.push([key, value])
    if (value !== null) variables.push([key, value])
  }
  // The limit on keys holds for existing contacts as for new ones: a caller with the public key
  // must not be able to tell the two apart.
  if (changes.filter(([, value]) => value !== null).length > MAX_KEYS) throw tooManyKeys()
  return { changes: toData(changes), variables: toData(variables) }
}

/**
 * Returns the data after `changes`, or the same object when nothing differs.
 * @throws AppError VALIDATION_ERROR when it becomes too large, or has too many keys
 */
export function mergeData(current: ContactData | null, changes: ContactData): ContactData | null {
  if (current === null) return newData(changes)
  if (!Object.entries(changes).some(([key, value]) => differs(current, key, value))) return current
  const merged = new Map(Object.entries(current))
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) merged.delete(key)
    else merged.set(key, value)
  }
  return merged.size === 0 ? null : checkedData(merged)
}

/**
 * Returns the data of a contact that has none yet: the same object as `changes`, unless a change
 * deletes a key.
 */
function newData(changes: ContactData): ContactData | null {
  const values = Object.values(changes)
  if (values.includes(null)) return newData(withoutNull(changes))
  if (values.length === 0) return null
  if (values.length > MAX_KEYS) throw tooManyKeys()
  checkSize(changes, 'The data of the contact')
  return changes
}

function withoutNull(changes: ContactData): ContactData {
  return toData(Object.entries(changes).filter(([, value]) => value !== null))
}

/**
 * As `mergeData`, for the step UPDATE_CONTACT of workflows: values are stored as given, null and empty
 * strings too. Reserved keys are dropped.
 */
export function mergeAsGiven(current: ContactData | null, updates: object): ContactData | null {
  const changes = Object.entries(updates).filter(([key]) => !RESERVED_KEYS.has(key))
  const isSame = ([key, value]: [string, unknown]) =>
    current !== null &&
    Object.hasOwn(current, key) &&
    JSON.stringify(current[key]) === JSON.stringify(value)
  if (changes.every(isSame)) return current
  return checkedData(new Map([...Object.entries(current ?? {}), ...changes]))
}

function tooManyKeys(): AppError {
  return invalidField('data', 'too_big', `The contact would have more than ${MAX_KEYS} keys`)
}

/** @throws AppError VALIDATION_ERROR */
function checkedData(merged: ReadonlyMap<string, unknown>): ContactData {
  if (merged.size > MAX_KEYS) throw tooManyKeys()
  const data = toData([...merged])
  checkSize(data, 'The data of the contact')
  return data
}

/**
 * Checks the limits that hold for the data of any request. `field`: its path in the request.
 * @throws AppError VALIDATION_ERROR
 */
export function checkData(data: unknown, field = 'data'): void {
  // Data that is too deep may be deeper than the stack; `checkValue` refuses it.
  if (!isDeeperThan(data, MAX_DEPTH)) checkSize(data, `The ${field}`, field)
  checkValue(data, field, 0)
}

function checkSize(data: unknown, name: string, field = 'data'): void {
  const text = JSON.stringify(data) ?? ''
  if (Buffer.byteLength(text) <= MAX_BYTES) return
  throw invalidField(field, 'too_big', `${name} would be larger than ${MAX_BYTES} bytes of JSON`)
}

/** Rejects values below `path` that JSON cannot round-trip, and nesting or keys that no client needs. */
function checkValue(value: unknown, path: string, depth: number): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw invalidField(path, 'invalid_type', 'The number is too large for JSON')
  }
  if (typeof value !== 'object' || value === null) return
  if (depth >= MAX_DEPTH) {
    throw invalidField(path, 'too_big', `Nested more than ${MAX_DEPTH} levels deep`)
  }
  const isList = Array.isArray(value)
  for (const [key, item] of Object.entries(value)) {
    if (!isList) checkKey(path, key)
    checkValue(item, `${path}.${key}`, depth + 1)
  }
}

function checkKey(path: string, key: string): void {
  const fault = faultOfKey(key)
  if (fault === undefined) return
  const shown = key.length > MAX_SHOWN ? `${key.slice(0, MAX_SHOWN)}…` : key
  throw invalidField(key === '' ? path : `${path}.${shown}`, fault.code, fault.message)
}

function faultOfKey(key: string): Pick<FieldError, 'code' | 'message'> | undefined {
  if (key === '') return { code: 'too_small', message: 'A key must not be empty' }
  if (key.length > MAX_KEY_LENGTH) {
    const message = `A key must be at most ${MAX_KEY_LENGTH} characters long`
    return { code: 'too_big', message }
  }
  if (!CONTROL_CHARACTER.test(key) && key.isWellFormed()) return undefined
  return { code: 'invalid_string', message: 'A key must not have control or broken characters' }
}

/** Whether contact data may contain the key: well formed and not reserved. */
export function isDataKey(key: string): boolean {
  return faultOfKey(key) === undefined && !RESERVED_KEYS.has(key)
}

function entriesOf(data: unknown): [string, unknown][] {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
  return isObject ? Object.entries(data) : []
}

function checkLocale(value: unknown): void {
  if (value === null || typeof value === 'string') return
  const field: FieldError = {
    field: 'data.locale',
    code: 'invalid_type',
    message: 'locale must be a string such as "en" or "pt-BR"',
    received: Array.isArray(value) ? 'array' : typeof value,
  }
  throw invalid([field])
}

function differs(current: ContactData, key: string, value: unknown): boolean {
  const isStored = Object.hasOwn(current, key)
  if (value === null) return isStored
  return !isStored || JSON.stringify(current[key]) !== JSON.stringify(value)
}

/** `Object.fromEntries` makes `__proto__` an ordinary key. */
function toData(entries: [string, unknown][]): ContactData {
  return Object.fromEntries(entries)
}
