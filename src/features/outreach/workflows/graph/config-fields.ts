/**
 * Reads the fields of a config from its own properties, and collects an error for each wrong field.
 */
import {
  type FieldError,
  tooLongText,
  type UnknownName,
  wrongOrMissingText,
} from '../../../../base/errors.ts'
import { faultInEventName } from '../../../../records/event-name.ts'
import { MAX_EVENT_NAME_LENGTH } from '../../../../records/limits.ts'
import { faultInServiceName } from '../../../ground/conditions/service-name.ts'

/** `errors` and `readers` may be shared by the readers of several objects. */
export type ConfigFields = {
  /** Returns the value of a field; undefined if it is absent or null. */
  get(name: string): unknown
  fail(name: string, code: string, message: string): void
  text(name: string, rule: TextRule): string | undefined
  number(name: string, rule: NumberRule): number | undefined
  boolean(name: string): boolean | undefined
  choice<const Choice extends string>(
    name: string,
    choices: readonly Choice[],
    rule?: { isRequired?: boolean },
  ): Choice | undefined
  /**
   * The fields of an object; undefined if absent or of another type. `isMap`: any name is allowed
   * in the object.
   */
  object(name: string, rule?: { isRequired?: boolean; isMap?: boolean }): ConfigFields | undefined
  /** Returns the path of a field for an error. */
  at(name: string): string
  readonly errors: FieldError[]
  /** The readers of all objects except maps. */
  readonly readers: ConfigFields[]
  /** The names of the fields that were read. */
  readonly asked: ReadonlySet<string>
  readonly values: Readonly<Record<string, unknown>>
}

type TextRule = { max: number; min?: number; isRequired?: boolean }
type NumberRule = { min: number; max: number; isInteger?: boolean; isRequired?: boolean }

/** At most this many errors of a request are reported. */
export const MAX_CONFIG_ERRORS = 20

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function readConfigFields(
  values: Readonly<Record<string, unknown>>,
  path: string,
  errors: FieldError[],
  readers: ConfigFields[] = [],
): ConfigFields {
  const asked = new Set<string>()
  const get = (name: string) => {
    asked.add(name)
    return Object.hasOwn(values, name) ? (values[name] ?? undefined) : undefined
  }
  const at = (name: string) => (name === '' ? path : `${path}.${name}`)
  const fail = (name: string, code: string, message: string) => {
    if (errors.length < MAX_CONFIG_ERRORS) errors.push({ field: at(name), message, code })
  }
  /**
   * Returns the value if it has the type. A value of another type is an error, and so is a missing
   * value that is required.
   */
  const typed = <T>(
    name: string,
    expected: string,
    {
      is,
      isRequired = false,
    }: { is(value: unknown): value is T; isRequired?: boolean | undefined },
  ): T | undefined => {
    const value = get(name)
    if (value === undefined && !isRequired) return undefined
    if (is(value)) return value
    fail(name, 'invalid_type', wrongOrMissingText(expected, typeName(value)))
    return undefined
  }
  const fields: ConfigFields = {
    get,
    fail,
    at,
    errors,
    readers,
    asked,
    values,
    text(name, { max, min = 1, isRequired }) {
      const text = typed(name, 'string', { is: isText, isRequired })
      if (text === undefined) return undefined
      if (text.length < min) fail(name, 'too_small', 'Must not be empty')
      else if (text.length > max) fail(name, 'too_big', tooLongText(max))
      else return text
      return undefined
    },
    number(name, { min, max, isInteger = false, isRequired }) {
      const value = typed(name, isInteger ? 'int' : 'number', {
        is: isInteger ? isInt : isNumber,
        isRequired,
      })
      if (value === undefined) return undefined
      if (value < min) fail(name, 'too_small', `Must be at least ${min}`)
      else if (value > max) fail(name, 'too_big', `Must be at most ${max}`)
      else return value
      return undefined
    },
    boolean: (name) => typed(name, 'boolean', { is: isBoolean }),
    choice(name, choices, { isRequired } = {}) {
      const text = typed(name, 'string', { is: isText, isRequired })
      if (text === undefined) return undefined
      const found = choices.find((choice) => choice === text)
      if (found === undefined) {
        fail(name, 'invalid_enum_value', `Expected one of ${choices.join(', ')}`)
      }
      return found
    },
    object(name, { isRequired, isMap = false } = {}) {
      const value = typed(name, 'object', { is: isObject, isRequired })
      return value === undefined
        ? undefined
        : readConfigFields(value, at(name), errors, isMap ? [] : readers)
    },
  }
  readers.push(fields)
  return fields
}

/** Lists the names in a config that were not read. A null counts as absent. */
export function listUnread({ readers }: ConfigFields, text: string): UnknownName[] {
  return readers.flatMap(({ values, asked, at }) =>
    Object.keys(values)
      .filter((name) => !asked.has(name) && values[name] !== null)
      .map((name) => ({ path: at('').split('.'), name, known: [...asked], text })),
  )
}

/** Reads a UUID in lower case; undefined if the field is absent or no UUID. */
export function readUuid(fields: ConfigFields, name: string): string | undefined {
  const text = fields.text(name, { max: 36 })?.toLowerCase()
  if (text === undefined) return undefined
  if (UUID.test(text)) return text
  fields.fail(name, 'invalid_string', 'Not a UUID')
  return undefined
}

/** Reads the name of an event; undefined if the field is absent or no such name. */
export function readEventName(
  fields: ConfigFields,
  { isRequired = false }: { isRequired?: boolean } = {},
): string | undefined {
  const name = fields.text('eventName', { max: MAX_EVENT_NAME_LENGTH, isRequired })
  const fault =
    name === undefined ? undefined : (faultInEventName(name) ?? faultInServiceName(name))
  if (fault === undefined) return name
  fields.fail('eventName', 'invalid_string', fault)
  return undefined
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the type of a value by its name in JSON. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function isInt(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
