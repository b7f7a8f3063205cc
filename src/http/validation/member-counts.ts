/**
 * Lists and maps of a request, counted before any schema looks at their members: a schema makes an
 * issue of every wrong member, and hundreds of thousands of issues stop a server. Of a list that
 * has no more members than it may have, the members are looked at one by one, until enough of them
 * are wrong.
 *
 * How many there may be is said by the schemas: `.max()` of a list, `maxProperties` of a map's
 * description, the shape of an object that takes no unknown fields.
 */
import { z } from 'zod'

type Schema = z.core.$ZodType
type Path = readonly PropertyKey[]

export type Visit = {
  /** The list, map or object at `path` has more members than it may have. */
  onTooMany(path: Path, fault: { code: string; message: string }): void
  /** The next member of a long list, unless its own members are too many; false ends the list. */
  onMember(path: Path, member: { schema: Schema; value: unknown } | undefined): boolean
}

/** Of a list no longer than that, the members are left to the schema of the whole. */
export const SHORT_LIST = 20

export function countMembers(schema: Schema, value: unknown, visit: Visit): void {
  look(schema, value, { path: [], visit })
}

type Place = { path: Path; visit: Visit }

/** False where there are too many members. */
function look(given: Schema, value: unknown, place: Place): boolean {
  if (typeof value !== 'object' || value === null) return true
  const schema = unwrapped(given)
  const { def } = schema._zod
  if (def.type === 'union') {
    return def.options.map((option) => look(option, value, place)).every(Boolean)
  }
  if (Array.isArray(value)) return def.type !== 'array' || lookAtList(schema, value, place)
  if (def.type === 'record') return lookAtMap(schema, value, place)
  return def.type !== 'object' || lookAtObject(schema, value, place)
}

/** The schema that the value meets first. */
function unwrapped(schema: Schema): z.core.$ZodTypes {
  const known = schema as z.core.$ZodTypes
  const { def } = known._zod
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return unwrapped(def.innerType)
    case 'pipe':
      return unwrapped(def.in)
    default:
      return known
  }
}

function lookAtList(schema: Schema, list: unknown[], { path, visit }: Place): boolean {
  const { def } = (schema as z.core.$ZodArray)._zod
  const maximum = mostMembers(def.checks)
  if (list.length > maximum) {
    const message = `Too big: expected array to have <=${maximum} items`
    visit.onTooMany(path, { code: 'too_big', message })
    return false
  }
  const isLong = list.length > SHORT_LIST
  for (const [index, value] of list.entries()) {
    const at = [...path, index]
    const isCounted = look(def.element, value, { path: at, visit })
    if (isLong && !visit.onMember(at, isCounted ? { schema: def.element, value } : undefined)) break
  }
  return true
}

function mostMembers(checks: readonly z.core.$ZodCheck<never>[] = []): number {
  const limits = checks.map((check) => check._zod.def as z.core.$ZodCheckMaxLengthDef)
  const maxima = limits.filter((limit) => limit.check === 'max_length')
  return Math.min(...maxima.map(({ maximum }) => maximum))
}

function lookAtMap(schema: Schema, map: object, { path, visit }: Place): boolean {
  const most = z.globalRegistry.get(schema)?.maxProperties
  if (typeof most !== 'number' || Object.keys(map).length <= most) return true
  visit.onTooMany(path, { code: 'too_big', message: `At most ${most} entries` })
  return false
}

function lookAtObject(schema: Schema, fields: object, { path, visit }: Place): boolean {
  const { shape, catchall } = (schema as z.core.$ZodObject)._zod.def
  const isStrict = (catchall as z.core.$ZodTypes | undefined)?._zod.def.type === 'never'
  const known = Object.entries(shape)
  if (isStrict && Object.keys(fields).length > known.length + SHORT_LIST) {
    const message = `Has more than ${SHORT_LIST} fields that are not known here`
    visit.onTooMany(path, { code: 'unrecognized_keys', message })
    return false
  }
  const parts = fields as Record<string, unknown>
  return known
    .map(([name, part]) => look(part, parts[name], { path: [...path, name], visit }))
    .every(Boolean)
}
