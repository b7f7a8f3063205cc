/** Reads fields of unknown JSON: a missing field, or one of another type, reads as empty or null. */
export type Fields = Readonly<Record<string, unknown>>

export function fieldsAt(fields: Fields, name: string): Fields {
  return toFields(fields[name])
}

/** Returns the objects of a list, without its other values. */
export function listAt(fields: Fields, name: string): Fields[] {
  const value = fields[name]
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function textAt(fields: Fields, name: string): string | null {
  const value = fields[name]
  return typeof value === 'string' ? value : null
}

function toFields(value: unknown): Fields {
  return isObject(value) ? value : {}
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
