/**
 * The policy for names in a request that its operation does not know. The request takes effect, and its
 * answer has a warning for each name, with the name that was probably meant. A name that the record shows
 * causes no warning, so that a client may send back the record it got, unless the value differs from the
 * answer's (`createKeptCheck`). A name is refused (422, `unrecognized`) where the request would otherwise do
 * something else than was asked for: those of `refused` and near `guarded`, those of strict bodies, and all
 * with `Prefer: handling=strict` (RFC 7240).
 */
import type { z } from 'zod'
import type { FieldError, FieldWarning, UnknownName } from '../base/errors.ts'
import { findClosest } from '../config/layers/closest.ts'
import {
  createKeptCheck,
  findUnknownNames,
  type KeptCheck,
  type NameTree,
  nameTreeOf,
  unwrapped,
} from './name-tree.ts'

/** The rules of an operation for names that its body does not have. */
export type NameRules = {
  /**
   * Names of other mail services, and misspellings that a spelling check misses, each with the name
   * that is meant here; null: no name is.
   */
  aliases?: Readonly<Record<string, string | null>>
  /**
   * For each list and field, such as `attachments.content`: names that stand for the field, and the
   * message about them if the field is missing.
   */
  explained?: Readonly<Record<string, { names: readonly string[]; message: string }>>
  /** Names that are refused, with the reason. */
  refused?: Readonly<Record<string, string>>
  /** Fields so important that a name near one of them is refused. */
  guarded?: readonly string[]
  /**
   * For each field that the record shows and the operation does not set: the call that changes the
   * field, as a suggestion.
   */
  ways?: Readonly<Record<string, string>>
  /** The record whose names cause no warnings; by default the record in the answer. */
  record?: z.ZodType
  /** The answer has a list of warnings of its own, which gets these warnings as texts. */
  isInAnswer?: boolean
}

/** The unknown names of one request. `ignored`: names to warn of. `refused`: names to refuse. */
export type NamesFound = { ignored: FieldWarning[]; refused: FieldError[] }

/** `find` looks at a body before or after its validation, `findKept` at an answer. */
export type NameCheck = {
  find(body: unknown, isStrict: boolean): NamesFound
  findKept: KeptCheck
}

/** Names of a request are shown up to this length. */
const MAX_SHOWN_NAME = 60

const NO_FIELD = 'There is no such field'

const NOTHING: NamesFound = { ignored: [], refused: [] }

/** `body`: undefined for an operation without one; `answer`: the schema of its response. */
export function createNameCheck(
  { body, answer }: { body: z.ZodType | undefined; answer: z.ZodType | undefined },
  rules: NameRules = {},
): NameCheck {
  if (body === undefined) return { find: findStrayNames, findKept: () => [] }
  const tree = nameTreeOf(body, rules.record ?? recordIn(answer))
  const isStrictBody = isStrictObject(body)
  const refusals = new Map(
    Object.entries(rules.refused ?? {}).map(([name, reason]) => [plain(name), reason]),
  )
  return {
    findKept: createKeptCheck(tree, rules.ways ?? {}),
    find(given, isStrict) {
      const names = findUnknownNames(tree, given)
      if (names.length === 0) return NOTHING
      const found: NamesFound = { ignored: [], refused: [] }
      for (const unknown of names) {
        const meant = nearest(unknown, rules.aliases)
        const isGuarded = meant !== undefined && rules.guarded?.includes(meant) === true
        const isAsked = unknown.path.length === 0 && !unknown.isEmpty
        const reason = isAsked ? refusals.get(plain(unknown.name)) : undefined
        if (isStrict || isStrictBody || isGuarded || reason !== undefined) {
          found.refused.push(refusalOf(unknown, { meant, reason }))
        } else found.ignored.push(warningOf(unknown, meant))
      }
      return found
    },
  }
}

/**
 * Finds all names of a body that the operation does not take. Names that the record shows are
 * included, because the operation sets none of them.
 */
function findStrayNames(given: unknown, isStrict: boolean): NamesFound {
  if (given === undefined) return NOTHING
  return judgeNames(toStrayNames(findUnknownNames(NO_NAMES, given)), isStrict)
}

/** The names at the top level of a body that the operation does not take. */
export function toStrayNames(names: readonly UnknownName[]): UnknownName[] {
  const own = names.filter(({ path }) => path.length === 0)
  return own.map((unknown) => ({ ...unknown, text: 'This call takes no body' }))
}

/** Warns of names that a feature has found to be unknown, or refuses them. */
export function judgeNames(names: readonly UnknownName[], isStrict: boolean): NamesFound {
  const found: NamesFound = { ignored: [], refused: [] }
  for (const unknown of names) {
    const meant = nearest(unknown)
    if (isStrict) found.refused.push(refusalOf(unknown, { meant }))
    else found.ignored.push(warningOf(unknown, meant))
  }
  return found
}

/** Parameters of lists by their names in other services. The first that the operation has is meant. */
const QUERY_ALIASES: Readonly<Record<string, readonly string[]>> = {
  q: ['search'],
  query: ['search'],
  to: ['search'],
  email: ['search'],
  recipient: ['search'],
  name: ['search', 'eventName'],
  perPage: ['limit', 'pageSize'],
  size: ['limit', 'pageSize'],
  limit: ['pageSize'],
  pageSize: ['limit'],
  status: ['outcome'],
  statusCode: ['status'],
  segmentId: ['filter'],
  offset: ['cursor', 'page'],
  after: ['cursor'],
  since: ['startDate'],
  from: ['startDate'],
  until: ['endDate'],
}

/** Parameters by which other services are asked for CSV. */
const FORMATS = ['format', 'csv', 'accept']

/** Only strict handling gets to see such a parameter. */
const NAMELESS: FieldError = {
  field: 'query',
  message: 'A parameter of the query has no name',
  code: 'unrecognized',
}

/** The unknown names of a query. `formatWay`: how a client gets the answer as CSV. */
export function findQueryNames(
  tree: NameTree | undefined,
  query: Readonly<Record<string, string>>,
  { isStrict, formatWay }: { isStrict: boolean; formatWay?: string | undefined },
): NamesFound {
  const names = findUnknownNames(tree, query)
  if (names.length === 0) return NOTHING
  // Admission has taken the `projectId` of the caller's project out; another one has no effect. Older clients
  // send it to every route.
  const others = isStrict ? names : names.filter(({ name }) => name !== 'projectId')
  const found: NamesFound = { ignored: [], refused: [] }
  for (const { known, ...other } of others) {
    if (other.name === '') {
      found.refused.push(NAMELESS)
      continue
    }
    const unknown = { ...other, known, text: 'There is no such parameter' }
    const name = camelCase(unknown.name)
    if (formatWay !== undefined && FORMATS.includes(name.toLowerCase()) && !isStrict) {
      found.ignored.push({ ...warningOf(unknown, undefined), suggestion: formatWay })
      continue
    }
    const aliases = Object.hasOwn(QUERY_ALIASES, name) ? QUERY_ALIASES[name] : undefined
    const meant = aliases?.find((alias) => known.includes(alias)) ?? nearest(unknown)
    if (isStrict) found.refused.push(refusalOf(unknown, { meant }))
    else found.ignored.push(warningOf(unknown, meant))
  }
  return found
}

/** The tree of a query; without a schema the operation has no parameters. */
export function queryTreeOf(query: z.ZodType | undefined): NameTree | undefined {
  return query === undefined ? NO_NAMES : nameTreeOf(query)
}

const NO_NAMES: NameTree = {
  fields: new Map(),
  readOnly: new Map(),
  isOpen: false,
  members: undefined,
}

/**
 * The warnings as texts, for answers whose clients expect texts: `"html": unknown field, ignored; did you
 * mean "body"?`
 */
export function toWarningTexts(warnings: readonly FieldWarning[]): string[] {
  return warnings.map(({ field, message, suggestion }) => {
    if (!message.startsWith(NO_FIELD)) return `${field}: ${message}`
    const hint = suggestion === null ? '' : `; did you mean "${suggestion}"?`
    return `${JSON.stringify(field)}: unknown field, ignored${hint}`
  })
}

/** The schema of the record in an answer: an object with an id, which is the answer or its `data`. */
function recordIn(answer: z.ZodType | undefined): z.core.$ZodType | undefined {
  if (answer === undefined) return undefined
  const { def } = unwrapped(answer)._zod
  if (def.type !== 'object') return undefined
  if (def.shape.id !== undefined) return answer
  const { data } = def.shape
  if (data === undefined) return undefined
  const inner = unwrapped(data)._zod.def
  return inner.type === 'object' && inner.shape.id !== undefined ? data : undefined
}

function isStrictObject(body: z.ZodType): boolean {
  const { def } = unwrapped(body)._zod
  if (def.type !== 'object' || def.catchall === undefined) return false
  return unwrapped(def.catchall)._zod.def.type === 'never'
}

/** The known name that was probably meant. */
function nearest(
  { path, name, known }: UnknownName,
  aliases: NameRules['aliases'] = {},
): string | undefined {
  const same = known.find((candidate) => plain(candidate) === plain(name))
  if (same !== undefined) return same
  const ofOthers = path.length > 0 ? {} : aliases
  const inCamelCase = camelCase(name)
  if (Object.hasOwn(ofOthers, inCamelCase)) return ofOthers[inCamelCase] ?? undefined
  // The opposite of a name is never suggested, although `unsubscribed` is near `subscribed`.
  const others = [...known, ...Object.keys(ofOthers)]
  const alike = inCamelCase.startsWith('un')
    ? others.filter((each) => each.startsWith('un'))
    : others
  const closest = findClosest(inCamelCase, alike)
  if (closest === undefined || known.includes(closest)) return closest
  return ofOthers[closest] ?? undefined
}

/** Whether another service has a field of this name, and this API has no such field. */
export function hasNoMeaning(field: string, { aliases = {} }: NameRules): boolean {
  const none = Object.keys(aliases).filter((name) => aliases[name] === null)
  return none.some((name) => plain(name) === plain(field))
}

/**
 * Returns the form of a name for comparisons, in which `segment_id`, `Segment-Id` and `segmentId`
 * are equal.
 */
function plain(name: string): string {
  return shown(name).replaceAll(/[_-]/g, '').toLowerCase()
}

/** The aliases are written in camel case. */
function camelCase(name: string): string {
  return shown(name).replaceAll(/[_-]([A-Za-z])/g, (_, letter: string) => letter.toUpperCase())
}

function warningOf(unknown: UnknownName, meant: string | undefined): FieldWarning {
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  const message = `${unknown.text ?? NO_FIELD}, so it was ignored${hint}`
  return { field: fieldOf(unknown), message, suggestion: meant ?? null }
}

function refusalOf(
  unknown: UnknownName,
  { meant, reason }: { meant: string | undefined; reason?: string | undefined },
): FieldError {
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  const message = reason ?? `${unknown.text ?? NO_FIELD}${hint}`
  return { field: fieldOf(unknown), message, code: 'unrecognized' }
}

function fieldOf({ path, name }: UnknownName): string {
  return [...path, name].map(shown).join('.')
}

function shown(name: string): string {
  const cut = name.length > MAX_SHOWN_NAME ? `${name.slice(0, MAX_SHOWN_NAME)}…` : name
  return cut.toWellFormed()
}
