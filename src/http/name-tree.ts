/**
 * Compares a request with the names that its schema knows: finds names that the schema does not know, and values
 * for fields that the record shows and the operation does not set. The tree of a schema's names is made once,
 * because a walk of zod's own definitions costs more than the validation of a short body.
 */
import type { z } from 'zod'
import type { FieldWarning, UnknownName } from '../base/errors.ts'

type Schema = z.core.$ZodType

/** The values of a field of a record: lists or objects (`nested`), others (`plain`), or either (`any`). */
type Shown = 'nested' | 'plain' | 'any'

/**
 * The names that a schema knows in a value: the fields of an object, and the names in the members of a list
 * or a map.
 */
export type NameTree = {
  fields: ReadonlyMap<string, NameTree | undefined> | undefined
  /** Fields that the record shows and requests cannot set. */
  readOnly: ReadonlyMap<string, Shown>
  /** Whether the schema keeps any other field too. */
  isOpen: boolean
  members: NameTree | undefined
}

/** Finds the values of `given` that differ from those of the record in `answer`. */
export type KeptCheck = (given: unknown, answer: unknown) => FieldWarning[]

/** Further names are left out. */
const MAX_UNKNOWN_NAMES = 20
/**
 * The most values of a request that are compared: a body of many small values must not take long.
 */
const MAX_LOOKS = 10_000
/**
 * Fields that change by themselves, keys and ids: their values in a request say nothing about the
 * client's wish.
 */
const NOT_WANTED =
  /^(?:id|version|totalRecipients|public|secret)$|(?:Id|At|Count|Since|Until|Reason)$/
/** Texts are shown up to this length. */
const MAX_SHOWN_LENGTH = 60

/**
 * The tree of `schema`; undefined if nothing below it has names. `record`: the record that the operation
 * answers.
 */
export function nameTreeOf(schema: Schema, record?: Schema): NameTree | undefined {
  const inner = unwrapped(schema)
  const { def } = inner._zod
  const shown = record === undefined ? undefined : unwrapped(record)
  switch (def.type) {
    case 'object':
      return treeOfObject(inner as z.core.$ZodObject, shown)
    case 'array':
      return treeOfMembers(
        def.element,
        shown?._zod.def.type === 'array' ? elementOf(shown) : undefined,
      )
    case 'record':
      return treeOfMembers(def.valueType)
    case 'union':
      return merged(def.options.map((option) => nameTreeOf(option, record)))
    case 'intersection':
      return merged([nameTreeOf(def.left, record), nameTreeOf(def.right, record)])
    default:
      return undefined
  }
}

/** The unknown names in `value`, in its order. */
export function findUnknownNames(tree: NameTree | undefined, value: unknown): UnknownName[] {
  const walk: NameWalk = { found: [], looks: 0 }
  if (tree !== undefined) search(tree, value, { walk, path: [] })
  return walk.found
}

/**
 * Warns of values for fields that the record shows and the operation does not set, such as the `status` of a
 * campaign. A client may send back a record as it read it, so only a value that differs from the record after
 * the request is named: it had no effect. Fields that change by themselves (counts, instants, reasons of
 * states), keys and ids are left out, because their values say nothing of a client's wish. Addresses are
 * compared without regard to case. `ways`: by field, the call that changes the value.
 */
export function createKeptCheck(
  tree: NameTree | undefined,
  ways: Readonly<Record<string, string>>,
): KeptCheck {
  const names = [...(tree?.readOnly ?? [])].flatMap(([name, kind]) =>
    kind === 'plain' && !NOT_WANTED.test(name) ? [name] : [],
  )
  if (names.length === 0) return () => []
  return (given, answer) => {
    const record = recordIn(answer)
    if (!isObject(given) || record === undefined) return []
    return names.flatMap((name) => {
      const value = given[name]
      const kept = record[name]
      if (value === undefined || kept === undefined || isSame(value, kept)) return []
      if (typeof value === 'object' && value !== null) return []
      const message = `This call does not set it, so it was ignored; the value is ${shortened(kept)}`
      return [{ field: name, message, suggestion: ways[name] ?? null }]
    })
  }
}

/** The schema inside optional, default, transform and similar wrappers. */
export function unwrapped(schema: Schema): z.core.$ZodTypes {
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

function treeOfObject(schema: z.core.$ZodObject, record: Schema | undefined): NameTree {
  const { shape, catchall } = schema._zod.def
  const shown = record === undefined ? {} : shapeOf(record)
  const fields = Object.entries(shape).map(([name, part]): [string, NameTree | undefined] => [
    name,
    nameTreeOf(part, shown[name]),
  ])
  const others = Object.entries(shown).filter(([name]) => !Object.hasOwn(shape, name))
  const readOnly = others.map(([name, part]): [string, Shown] => [name, shownOf(part)])
  const rest = catchall === undefined ? 'never' : unwrapped(catchall)._zod.def.type
  return {
    fields: new Map(fields),
    readOnly: new Map(readOnly),
    isOpen: rest !== 'never',
    members: undefined,
  }
}

function treeOfMembers(element: Schema, record?: Schema): NameTree | undefined {
  const members = nameTreeOf(element, record)
  if (members === undefined) return undefined
  return { fields: undefined, readOnly: new Map(), isOpen: true, members }
}

function elementOf(list: z.core.$ZodTypes): Schema | undefined {
  return list._zod.def.type === 'array' ? list._zod.def.element : undefined
}

function shapeOf(record: Schema): Readonly<Record<string, Schema>> {
  const { def } = unwrapped(record)._zod
  return def.type === 'object' ? def.shape : {}
}

function shownOf(schema: Schema): Shown {
  const { type } = unwrapped(schema)._zod.def
  if (type === 'unknown' || type === 'union') return 'any'
  return ['object', 'array', 'record'].includes(type) ? 'nested' : 'plain'
}

/** A value of a union may have the names of any alternative. */
function merged(trees: readonly (NameTree | undefined)[]): NameTree | undefined {
  const given = trees.filter((tree) => tree !== undefined)
  const [first, ...others] = given
  if (first === undefined || others.length === 0) return first
  const withFields = given.filter(({ fields }) => fields !== undefined)
  const members = merged(given.map((tree) => tree.members))
  if (withFields.length === 0) return { ...first, members }
  const fields = new Map<string, NameTree | undefined>()
  for (const tree of withFields) {
    for (const [name, part] of tree.fields ?? []) fields.set(name, merged([fields.get(name), part]))
  }
  const readOnly = new Map(withFields.flatMap((tree) => [...tree.readOnly]))
  for (const name of fields.keys()) readOnly.delete(name)
  return { fields, readOnly, isOpen: withFields.some(({ isOpen }) => isOpen), members }
}

type NameWalk = { found: UnknownName[]; looks: number }

function search(
  tree: NameTree,
  value: unknown,
  { walk, path }: { walk: NameWalk; path: readonly string[] },
): void {
  if (typeof value !== 'object' || value === null) return
  const isList = Array.isArray(value)
  for (const name in value) {
    walk.looks += 1
    if (walk.looks > MAX_LOOKS || walk.found.length >= MAX_UNKNOWN_NAMES) return
    const member = value[name as keyof typeof value] as unknown
    const isKnown = !isList && tree.fields?.has(name) === true
    const part = isKnown ? tree.fields?.get(name) : tree.members
    if (part !== undefined) search(part, member, { walk, path: [...path, name] })
    if (isList || isKnown || tree.isOpen || tree.fields === undefined) continue
    if (isShown(tree, name, member)) continue
    walk.found.push({ path, name, known: [...tree.fields.keys()], isEmpty: isEmpty(member) })
  }
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return value === null || value === '' || value === false || value === 0
}

/** Whether a client sends back what the record shows. */
function isShown({ readOnly }: NameTree, name: string, value: unknown): boolean {
  const kind = readOnly.get(name)
  if (kind === undefined) return false
  return kind === 'any' || value === null || (typeof value === 'object') === (kind === 'nested')
}

/** An answer is a record, or has it as `data`. */
function recordIn(answer: unknown): Record<string, unknown> | undefined {
  if (!isObject(answer)) return undefined
  return isObject(answer.data) && answer.id === undefined ? answer.data : answer
}

function isSame(value: unknown, kept: unknown): boolean {
  if (typeof value !== 'string' || typeof kept !== 'string' || !kept.includes('@')) {
    return value === kept
  }
  return value.length === kept.length && value.toLowerCase() === kept.toLowerCase()
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function shortened(value: unknown): string {
  const text = String(value)
  const isLong = text.length > MAX_SHOWN_LENGTH
  return isLong ? `${text.slice(0, MAX_SHOWN_LENGTH)}…`.toWellFormed() : text
}
