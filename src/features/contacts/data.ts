/**
 * The rules for contact data, the same on every path (send, track, contacts, import):
 * a value is stored under its key; null deletes the key; an empty string is ignored; an object
 * `{ value, persistent: false }` serves one call and is not stored; reserved keys are dropped.
 * The merge is shallow; a contact without data has null. Neither what a request gives nor what a
 * contact has may be larger than 64 KB of JSON.
 */
import { type FieldError, invalid, invalidField } from '../../errors.ts'
import type { ContactData } from '../../store/schema.ts'

const RESERVED_KEYS = new Set([
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

export type ReadData = {
  /** What is to be stored; null = delete the key. */
  changes: ContactData
  /** What templates of this very call see, one-shot values unwrapped. */
  variables: ContactData
}

/**
 * Takes apart the `data` of a request; anything but an object counts as none.
 * @throws AppError VALIDATION_ERROR when it is too large, or `locale` is no string
 */
export function readData(data: unknown): ReadData {
  checkSize(data, 'The data')
  const changes: [string, unknown][] = []
  const variables: [string, unknown][] = []
  for (const [key, value] of entriesOf(data)) {
    if (RESERVED_KEYS.has(key) || value === '') continue
    if (key === 'locale') checkLocale(isOneShot(value) ? value.value : value)
    if (isOneShot(value)) {
      if (value.value !== null && value.value !== '') variables.push([key, value.value])
      continue
    }
    changes.push([key, value])
    if (value !== null) variables.push([key, value])
  }
  return { changes: toData(changes), variables: toData(variables) }
}

/**
 * The contact's data after `changes`; the very same object when nothing differs.
 * @throws AppError VALIDATION_ERROR when it becomes too large
 */
export function mergeData(current: ContactData | null, changes: ContactData): ContactData | null {
  if (!Object.entries(changes).some(([key, value]) => differs(current, key, value))) return current
  const merged = new Map(Object.entries(current ?? {}))
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) merged.delete(key)
    else merged.set(key, value)
  }
  if (merged.size === 0) return null
  const data = toData([...merged])
  checkSize(data, 'The data of the contact')
  return data
}

function checkSize(data: unknown, name: string): void {
  const text = JSON.stringify(data) ?? ''
  if (Buffer.byteLength(text) <= MAX_BYTES) return
  throw invalidField('data', 'too_big', `${name} would be larger than ${MAX_BYTES} bytes of JSON`)
}

function entriesOf(data: unknown): [string, unknown][] {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
  return isObject ? Object.entries(data) : []
}

function isOneShot(value: unknown): value is { value: unknown; persistent: false } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'persistent' in value &&
    value.persistent === false &&
    'value' in value
  )
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

function differs(current: ContactData | null, key: string, value: unknown): boolean {
  const isStored = current !== null && Object.hasOwn(current, key)
  if (value === null) return isStored
  return !isStored || JSON.stringify(current[key]) !== JSON.stringify(value)
}

/** Own keys only, whatever they are called: `__proto__` becomes a key like any other. */
function toData(entries: [string, unknown][]): ContactData {
  return Object.fromEntries(entries)
}
