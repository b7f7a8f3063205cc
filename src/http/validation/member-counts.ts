/**
 * Counts the members of lists and maps before their schemas validate them: zod makes an issue of
 * every invalid member, and hundreds of thousands of issues block a server. The members of a list
 * within its limit are validated one by one, until enough of them are invalid.
 *
 * The limits come from the schemas: `.max()` of a list, `maxProperties` in the description of a map,
 * the shape of an object without unknown fields.
 */
import { z } from 'zod'

type Schema = z.core.$ZodType
type Path = readonly PropertyKey[]

type Visit = {
  /** The list, map or object at `path` has too many members. */
  onTooMany(path: Path, fault: { code: string; message: string }): void
  /** The next member of a long list, undefined if it has too many members itself; false ends the list. */
  onMember(path: Path, member: { schema: Schema; value: unknown } | undefined): boolean
}

/** The members of shorter lists are validated with the whole value. */
const SHORT_LIST = 20

export function countMembers(schema: Schema, value: unknown, visit: Visit): void {
  checkValue(schema, value, { path: [], visit })
}

type Place = { path: Path; visit: Visit }

/** False if there are too many members. */
function checkValue(given: Schema, value: unknown, place: Place): boolean {
  if (typeof value !== 'object' || value === null) return true
  const schema = unwrapped(given)
  const { def } = schema._zod
  if (def.type === 'union') {
    return def.options.map((option) => checkValue(option, value, place)).every(Boolean)
  }
  if (Array.isArray(value)) return def.type !== 'array' || checkList(schema, value, place)
  if (def.type === 'record') return checkMap(schema, value, place)
  return def.type !== 'object' || checkObject(schema, value, place)
}

/** The innermost schema that validates the value itself. */
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

function checkList(schema: Schema, list: unknown[], { path, visit }: Place): boolean {
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
    const isCounted = checkValue(def.element, value, { path: at, visit })
    if (isLong && !visit.onMember(at, isCounted ? { schema: def.element, value } : undefined)) break
  }
  return true
}

function mostMembers(checks: readonly z.core.$ZodCheck<never>[] = []): number {
  const limits = checks.map((check) => check._zod.def as z.core.$ZodCheckMaxLengthDef)
  const maxima = limits.filter((limit) => limit.check === 'max_length')
  return Math.min(...maxima.map(({ maximum }) => maximum))
}

function checkMap(schema: Schema, map: object, { path, visit }: Place): boolean {
  const most = z.globalRegistry.get(schema)?.maxProperties
  if (typeof most !== 'number' || Object.keys(map).length <= most) return true
  visit.onTooMany(path, { code: 'too_big', message: `At most ${most} entries` })
  return false
}

function checkObject(schema: Schema, fields: object, { path, visit }: Place): boolean {
  const { shape, catchall } = (schema as z.core.$ZodObject)._zod.def
  const isStrict = (catchall as z.core.$ZodTypes | undefined)?._zod.def.type === 'never'
  const known = Object.entries(shape)
  if (isStrict && Object.keys(fields).length > known.length + SHORT_LIST) {
    const message = `Has more than ${SHORT_LIST} unknown fields`
    visit.onTooMany(path, { code: 'unrecognized_keys', message })
    return false
  }
  const parts = fields as Record<string, unknown>
  return known
    .map(([name, part]) => checkValue(part, parts[name], { path: [...path, name], visit }))
    .every(Boolean)
}
