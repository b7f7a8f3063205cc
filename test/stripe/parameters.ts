/**
 * The parameters that Stripe allows at the pinned version, read from the types of the package, which are
 * generated from Stripe's description of its API. So a request with a parameter that Stripe does not know,
 * a wrong type, or without a required parameter is found without Stripe.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'

const RESOURCES = path.join(import.meta.dirname, '../../node_modules/stripe/esm/resources')

type Property = { type: string; isRequired: boolean }
type Shape = { properties: Map<string, Property>; parents: string[] }
/** By qualified name: `Checkout.SessionCreateParams.LineItem`. */
type Declarations = { shapes: Map<string, Shape>; aliases: Map<string, string> }

/** Shared types that the reader knows by name. */
const PAGINATION: Shape = {
  parents: [],
  properties: new Map([
    ['ending_before', { type: 'string', isRequired: false }],
    ['limit', { type: 'number', isRequired: false }],
    ['starting_after', { type: 'string', isRequired: false }],
  ]),
}
const MAP = '{}'

const files = new Map<string, Declarations>()

/** A value of a form: texts, lists and objects of them. */
export type FormValue = string | FormValue[] | { [key: string]: FormValue }

/**
 * What is wrong with the parameters of a request, as Stripe says it; undefined if nothing is.
 * `file`: below `resources`, without its ending. `name`: of the interface of the parameters; undefined if
 * there are none.
 */
export function findWrongParameter(
  { file, name }: { file: string; name: string | undefined },
  form: { [key: string]: FormValue },
): string | undefined {
  if (name === undefined) {
    const [unknown] = Object.keys(form)
    return unknown === undefined ? undefined : `Received unknown parameter: ${unknown}`
  }
  return checkShape(declarationsOf(file), name, form, '')
}

function checkShape(
  all: Declarations,
  name: string,
  value: FormValue,
  at: string,
): string | undefined {
  if (typeof value === 'string' || Array.isArray(value)) return `Invalid object: ${at}`
  const properties = propertiesOf(all, name)
  for (const [key, inner] of Object.entries(value)) {
    const place = at === '' ? key : `${at}[${key}]`
    const property = properties.get(key)
    if (property === undefined) return `Received unknown parameter: ${place}`
    const wrong = checkType(all, { type: property.type, scope: name }, inner, place)
    if (wrong !== undefined) return wrong
  }
  for (const [key, { isRequired }] of properties) {
    if (isRequired && !(key in value))
      return `Missing required param: ${at === '' ? key : `${at}[${key}]`}.`
  }
  return undefined
}

type Typed = { type: string; scope: string }

function checkType(
  all: Declarations,
  { type, scope }: Typed,
  value: FormValue,
  at: string,
): string | undefined {
  const check = (inner: string, given = value, place = at) =>
    checkType(all, { type: inner, scope }, given, place)
  const [, emptyable] = /^Emptyable<(.+)>$/.exec(type) ?? []
  if (emptyable !== undefined) return value === '' ? undefined : check(emptyable)
  const [, element] = /^Array<(.+)>$/.exec(type) ?? []
  if (element !== undefined) {
    if (!Array.isArray(value)) return `Invalid array: ${at}`
    return value
      .map((one, index) => check(element, one, `${at}[${index}]`))
      .find((one) => one !== undefined)
  }
  if (type.includes(' | ')) {
    const wrong = type
      .split(' | ')
      .filter((one) => one !== 'OtherString')
      .map((one) => check(one))
    return wrong.includes(undefined) ? undefined : `Invalid ${at}: ${JSON.stringify(value)}`
  }
  if (type === MAP || type === 'MetadataParam') {
    const isMap =
      typeof value === 'object' && Object.values(value).every((one) => typeof one === 'string')
    return isMap ? undefined : `Invalid hash: ${at}`
  }
  const resolved = resolve(all, type, scope)
  if (resolved !== undefined) {
    const alias = all.aliases.get(resolved)
    return alias === undefined
      ? checkShape(all, resolved, value, at)
      : checkType(all, { type: alias, scope: resolved }, value, at)
  }
  return checkScalar(type, value, at)
}

function checkScalar(type: string, value: FormValue, at: string): string | undefined {
  if (typeof value !== 'string') return `Invalid ${type}: ${at}`
  if (type === 'string') return undefined
  if (type === 'number') return /^-?\d+(\.\d+)?$/.test(value) ? undefined : `Invalid integer: ${at}`
  if (type === 'boolean') return /^(true|false)$/.test(value) ? undefined : `Invalid boolean: ${at}`
  const [, literal] = /^'(.*)'$/.exec(type) ?? []
  if (literal !== undefined)
    return value === literal ? undefined : `Invalid ${at}: must be ${literal}`
  if (type === 'null' || type === "''") return value === '' ? undefined : `Invalid ${at}`
  throw new TypeError(`the reader of Stripe's types does not know ${type} at ${at}`)
}

function propertiesOf(all: Declarations, name: string): Map<string, Property> {
  const shape = all.shapes.get(name)
  if (shape === undefined) throw new TypeError(`Stripe's types have no interface ${name}`)
  const inherited = shape.parents.flatMap((parent) => {
    if (parent === 'PaginationParams') return [...PAGINATION.properties]
    return [...propertiesOf(all, resolve(all, parent, name) ?? parent)]
  })
  return new Map([...inherited, ...shape.properties])
}

/** The qualified name that a type means where it stands. */
function resolve(
  { shapes, aliases }: Declarations,
  type: string,
  scope: string,
): string | undefined {
  const parts = scope.split('.')
  for (let length = parts.length; length >= 0; length -= 1) {
    const name = [...parts.slice(0, length), type].join('.')
    if (shapes.has(name) || aliases.has(name)) return name
  }
  return undefined
}

function declarationsOf(file: string): Declarations {
  const known = files.get(file)
  if (known !== undefined) return known
  const text = readFileSync(path.join(RESOURCES, `${file}.d.ts`), 'utf8')
  const declarations = parse(text)
  files.set(file, declarations)
  return declarations
}

/** The generated files have one declaration, property or bracket a line. */
function parse(text: string): Declarations {
  const shapes = new Map<string, Shape>()
  const aliases = new Map<string, string>()
  const scopes: string[] = []
  let shape: Shape | undefined
  let inner = 0
  for (const raw of text.replace(/\/\*[\s\S]*?\*\//g, '').split('\n')) {
    const line = raw.trim()
    const [, opened] =
      /^(?:export )?(?:declare )?(?:namespace|interface|class) (\w+).*\{$/.exec(line) ?? []
    const [, alias, meant = ''] = /^(?:export )?(?:declare )?type (\w+) = (.+);$/.exec(line) ?? []
    const [, key, optional, type = ''] = /^(\w+)(\?)?: (.+?);?$/.exec(line) ?? []
    if (inner > 0) {
      if (/^\}/.test(line)) inner -= 1
      else if (line.endsWith('{')) inner += 1
    } else if (opened !== undefined) {
      scopes.push(opened)
      const [, parents] =
        /^(?:export )?(?:declare )?interface \w+ extends (.+) \{$/.exec(line) ?? []
      const isInterface = /^(?:export )?(?:declare )?interface /.test(line)
      shape = isInterface
        ? { properties: new Map(), parents: parents?.split(', ') ?? [] }
        : undefined
      if (shape !== undefined) shapes.set(scopes.join('.'), shape)
    } else if (alias !== undefined) aliases.set([...scopes, alias].join('.'), meant)
    else if (line === '}') {
      scopes.pop()
      shape = undefined
    } else if (key !== undefined && shape !== undefined) {
      const isMap = type === '{'
      if (isMap) inner += 1
      shape.properties.set(key, { type: isMap ? MAP : type, isRequired: optional === undefined })
    } else if (line.endsWith('{')) inner += 1
  }
  return { shapes, aliases }
}

/** Reads `a[b][0]=c` into objects and lists. */
export function parseForm(text: string): { [key: string]: FormValue } {
  const root: { [key: string]: FormValue } = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const keys = name.replaceAll(']', '').split('[')
    let place: { [key: string]: FormValue } = root
    for (const [index, key] of keys.entries()) {
      if (index === keys.length - 1) place[key] = value
      else {
        place[key] ??= {}
        place = place[key] as { [key: string]: FormValue }
      }
    }
  }
  return toLists(root) as { [key: string]: FormValue }
}

function toLists(value: FormValue): FormValue {
  if (typeof value === 'string' || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([key, inner]): [string, FormValue] => [
    key,
    toLists(inner),
  ])
  const isList = entries.length > 0 && entries.every(([key], index) => key === String(index))
  return isList ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)
}
