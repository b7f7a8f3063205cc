/**
 * Non-persistent values in the data of clients' events: objects `{ value, persistent: false }`,
 * which are not stored with the contact. The event stores its data unchanged, so readers unwrap the
 * values.
 */
type NonPersistentValue = { value: unknown; persistent: false }

export function isNonPersistent(value: unknown): value is NonPersistentValue {
  return (
    typeof value === 'object' &&
    value !== null &&
    'persistent' in value &&
    value.persistent === false &&
    'value' in value
  )
}

/**
 * Returns the values of an event's data by their own keys, with non-persistent values unwrapped.
 */
export function unwrapEventData(data: unknown): Record<string, unknown> {
  const entries = Object.entries(objectData(data) ?? {}).map(([key, value]): [string, unknown] => [
    key,
    isNonPersistent(value) ? value.value : value,
  ])
  return Object.fromEntries(entries)
}

/** Clients may send any JSON as data; returns null for data that is no object. */
function objectData(data: unknown): Record<string, unknown> | null {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
  return isObject ? (data as Record<string, unknown>) : null
}
