/**
 * Reads the query and the body of a request by the schemas of its operation, applies the policy for
 * unknown names, also to the answer, and warns of times without a time zone. If a request is
 * refused for another reason, the error also lists unknown names that probably stand for a missing
 * field.
 */
import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { formatInstant, parseZoneless } from '../base/clock.ts'
import { AppError, type FieldError, type FieldWarning, invalid } from '../base/errors.ts'
import { unwrapped } from './name-tree.ts'
import { wantsStrict } from './preference.ts'
import type { HttpResponse } from './response.ts'
import {
  createNameCheck,
  findQueryNames,
  hasNoMeaning,
  type NameRules,
  type NamesFound,
  queryTreeOf,
} from './unknown-names.ts'
import { MAX_FIELD_ERRORS, validate } from './validation.ts'

type Schemas<Query, Body> = {
  query?: z.ZodType<Query>
  body?: z.ZodType<Body>
  names?: NameRules
  /** The body is an HTML form: browsers show no warnings, so there are none. Strict handling refuses names as ever. */
  takesForm?: boolean
  responses: Readonly<Record<number, { schema?: z.ZodType; isTableToo?: boolean }>>
  /** How a client gets the same as CSV, if not by `Accept: text/csv`. */
  csvWay?: string
  takesIdempotencyKey?: boolean
}

type Request = {
  query: Readonly<Record<string, string>>
  body: unknown
  incoming: IncomingMessage
  warn(warning: FieldWarning): void
}

type ReadRequest<Query, Body> = {
  query: Query
  body: Body
  /** The warnings of names that the body should not have; they go into the answer. */
  unknownNames: readonly FieldWarning[]
}

type TimeCheck = (request: {
  query: Readonly<Record<string, string>>
  body: unknown
}) => FieldWarning[]

type RequestReader<Query, Body> = {
  /** @throws AppError VALIDATION_ERROR */
  read(request: Request): ReadRequest<Query, Body>
  /** Warns of values in the request that the record in the answer does not have. */
  checkAnswer(request: Pick<Request, 'body' | 'warn'>, response: HttpResponse): HttpResponse
}

const QUERY_TIMES = ['from', 'to', 'startDate', 'endDate']
const BODY_TIMES = ['scheduledFor', 'scheduledAt', 'since', 'until']
const ACCEPT_CSV = 'For CSV send the header Accept: text/csv'

export function createRequestReader<Query, Body>(
  schemas: Schemas<Query, Body>,
): RequestReader<Query, Body> {
  const { query, body, names = {}, takesForm = false, responses } = schemas
  const answer = Object.values(responses).find(({ schema }) => schema !== undefined)?.schema
  const { takesIdempotencyKey = false } = schemas
  const rules = takesIdempotencyKey ? withKeyAlias(names) : names
  const check = createNameCheck({ body, answer }, rules)
  const queryTree = queryTreeOf(query)
  const isTableToo = Object.values(responses).some((each) => each.isTableToo === true)
  const formatWay = schemas.csvWay ?? (isTableToo ? ACCEPT_CSV : undefined)
  const findZoneless = createTimeCheck({ query, body })
  const readBody = (given: unknown, isStrict: boolean) => {
    const isTold = isStrict || !takesForm
    const find = () => check.find(isTold ? given : {}, isStrict)
    const value =
      body === undefined
        ? (undefined as Body)
        : refusedWith(given, { rules, read: () => validate(body, given), find })
    const { ignored, refused } = find()
    if (refused.length > 0) throw invalid(refused)
    return { value, unknownNames: ignored }
  }
  const read = (request: Request) => {
    const isStrict = wantsStrict(request.incoming)
    const entries = isStrict ? queryEntries(request.incoming) : []
    // A parameter with an empty value, or without a name, is not in `query`.
    const empty = entries.filter(([name, value]) => name === '' || value === '')
    const named =
      empty.length === 0 ? request.query : { ...Object.fromEntries(empty), ...request.query }
    const strange = findQueryNames(queryTree, named, { isStrict, formatWay })
    if (strange.refused.length > 0) throw invalid(strange.refused)
    for (const warning of strange.ignored) request.warn(warning)
    refuseRepeated(entries)
    if (takesIdempotencyKey) warnOfKeyHeader(request)
    const valid = query === undefined ? (undefined as Query) : validate(query, request.query)
    const { value, unknownNames } = readBody(request.body, isStrict)
    for (const warning of findZoneless?.(request) ?? []) request.warn(warning)
    for (const warning of unknownNames) request.warn(warning)
    return { query: valid, body: value, unknownNames }
  }
  return {
    read,
    checkAnswer(request, response) {
      for (const warning of check.findKept(request.body, response.value)) request.warn(warning)
      return response
    },
  }
}

/** The parameters of the target as the client sent them. */
function queryEntries({ url = '' }: IncomingMessage): [name: string, value: string][] {
  const [target = ''] = url.split('#', 1)
  const start = target.indexOf('?')
  return start === -1 ? [] : [...new URLSearchParams(target.slice(start))]
}

/** Of a name that stands twice in a query only the first value is read. @throws AppError VALIDATION_ERROR */
function refuseRepeated(entries: readonly (readonly [name: string, value: string])[]): void {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const [name] of entries) {
    if (seen.has(name)) repeated.add(name)
    seen.add(name)
  }
  if (repeated.size === 0) return
  const message = 'Stands more than once in the query'
  throw invalid([...repeated].map((field) => ({ field, message, code: 'unrecognized' })))
}

function withKeyAlias(names: NameRules): NameRules {
  const aliases = { ...names.aliases, idempotencyKey: 'the header Idempotency-Key' }
  return { ...names, aliases }
}

/** Warns of `X-Idempotency-Key`: it is ignored, so a repeated request would take effect again. */
function warnOfKeyHeader({ incoming: { headers }, warn }: Request): void {
  if (headers['x-idempotency-key'] === undefined || headers['idempotency-key'] !== undefined) return
  const message = 'There is no such header, so it was ignored; did you mean Idempotency-Key?'
  warn({ field: 'X-Idempotency-Key', message, suggestion: 'Idempotency-Key' })
}

/**
 * Adds unknown names to the errors of the schema: names that are refused, and names that probably stand for a
 * field that is wrong or missing.
 */
function refusedWith<Value>(
  given: unknown,
  { rules, read, find }: { rules: NameRules; read: () => Value; find: () => NamesFound },
): Value {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof AppError) || error.fields === undefined) throw error
    const { ignored, refused } = find()
    const wrong = new Set(error.fields.map(({ field }) => field))
    // The error of a rule about several fields has only one of these fields as its place.
    const isRule = error.fields.some(({ field, code }) => code === 'custom' && !field.includes('.'))
    const isAway = (fault: FieldError) =>
      isMissing(fault) || (fault.code === 'custom' && isAbsent(given, fault.field))
    const missing = error.fields.filter(isAway).map(({ field }) => field)
    const meant = ignored.flatMap((warning): FieldError[] => {
      const place = placeOf(warning)
      // A suggestion with a blank, such as `the header Idempotency-Key`, names no field of the body.
      if (place.includes(' ')) return []
      const isInPlace = wrong.has(place) || (isRule && isAbsent(given, place))
      const beside = missing.filter((field) => parentOf(field) === parentOf(warning.field))
      if (!isInPlace && beside.length === 0) return []
      if (hasNoMeaning(warning.field, rules)) return []
      const only = beside.length === 1 ? beside[0]?.split('.').at(-1) : undefined
      const explanation = explanationOf(warning.field, beside, rules)
      return [strangeName(warning.field, { meant: warning.suggestion ?? only, explanation })]
    })
    const strange = [...refused, ...meant]
    const named = new Set(strange.map(({ field }) => field))
    const others = error.fields.filter(({ field }) => !named.has(field))
    throw invalid([...strange, ...others].slice(0, MAX_FIELD_ERRORS))
  }
}

function strangeName(
  field: string,
  { meant, explanation }: { meant: string | undefined; explanation: string | undefined },
): FieldError {
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  return { field, message: explanation ?? `There is no such field${hint}`, code: 'unrecognized' }
}

function explanationOf(
  field: string,
  missing: readonly string[],
  { explained = {} }: NameRules,
): string | undefined {
  const name = field.slice(field.lastIndexOf('.') + 1)
  const found = missing.map((each) => {
    const parts = each.split('.')
    return explained[`${parts[0]}.${parts.at(-1)}`]
  })
  return found.find((each) => each?.names.includes(name))?.message
}

function isMissing({ message, received }: FieldError): boolean {
  return received === 'undefined' || message === 'Required'
}

/** The path of the object that has the field. */
function parentOf(field: string): string {
  return field.split('.').slice(0, -1).join('.')
}

/** The path of the field that was probably meant. */
function placeOf({ field, suggestion }: FieldWarning): string {
  const parent = parentOf(field)
  // The suggestion `body with type: "markdown"` means the field `body`.
  const [name = ''] = (suggestion ?? '').split(' with ')
  return parent === '' ? name : `${parent}.${name}`
}

/** Whether the body has no field of this name at its top level. */
function isAbsent(given: unknown, name: string): boolean {
  return name !== '' && !name.includes('.') && !Object.hasOwn(Object(given), name)
}

/**
 * Warns of times in a request that name no time zone. They are read as UTC, which an author in another zone
 * may not expect, so the answer names the instant that was understood. A day in a query is a whole day, and
 * needs no zone. Undefined for an operation without times.
 */
function createTimeCheck({
  query,
  body,
}: {
  query?: z.ZodType | undefined
  body?: z.ZodType | undefined
}): TimeCheck | undefined {
  const inQuery = namesIn(query, QUERY_TIMES)
  const inBody = namesIn(body, BODY_TIMES)
  if (inQuery.length + inBody.length === 0) return undefined
  return (request) => {
    const fields = (request.body ?? {}) as Readonly<Record<string, unknown>>
    return [
      ...inQuery.flatMap((name) => warnOfTime(name, request.query[name], { isDayWhole: true })),
      ...inBody.flatMap((name) => warnOfTime(name, fields[name], { isDayWhole: false })),
    ]
  }
}

function namesIn(schema: z.ZodType | undefined, names: readonly string[]): string[] {
  if (schema === undefined) return []
  const { def } = unwrapped(schema)._zod
  return def.type === 'object' ? names.filter((name) => Object.hasOwn(def.shape, name)) : []
}

function warnOfTime(
  field: string,
  value: unknown,
  { isDayWhole }: { isDayWhole: boolean },
): FieldWarning[] {
  const time = typeof value === 'string' ? parseZoneless(value.trim()) : undefined
  if (time === undefined || (time.isDay && isDayWhole)) return []
  const message = `There is no time zone in it, so it was read as UTC: ${formatInstant(time.at)}`
  const suggestion = 'Write Z at the end for UTC, or an offset such as +01:00'
  return [{ field, message, suggestion }]
}
