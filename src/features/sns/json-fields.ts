/** Looking into JSON of which nothing is known: what is not there, or not of that kind, is empty. */
export type Fields = Readonly<Record<string, unknown>>

export function fieldsAt(fields: Fields, name: string): Fields {
  return toFields(fields[name])
}

/** Objects of a list; whatever else is in it is left out. */
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
