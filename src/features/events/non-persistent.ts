/**
 * The data of clients' events. It is kept as it came, values for one call among it: objects
 * `{ value, persistent: false }`, which are not stored with the contact (contract 1.2, 1.4). So
 * whoever reads an event unwraps them.
 */
export type NonPersistentValue = { value: unknown; persistent: false }

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
 * An event's data as workflows see it: by key, one-shot values unwrapped, everything else as it
 * came. Own keys only, whatever they are called.
 */
export function unwrapEventData(data: unknown): Record<string, unknown> {
  const entries = Object.entries(objectData(data) ?? {}).map(([key, value]): [string, unknown] => [
    key,
    isNonPersistent(value) ? value.value : value,
  ])
  return Object.fromEntries(entries)
}

/** An event's data by its keys; data that is no object (clients may give any JSON) has none. */
function objectData(data: unknown): Record<string, unknown> | null {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
  return isObject ? (data as Record<string, unknown>) : null
}
