/** Turns a JSON schema of the description into a TypeScript type. */
import { writeComment } from '../schema/write-comment.ts'

/** A JSON schema of OpenAPI 3.1, as far as the description uses it. */
export type Schema = {
  $ref?: string
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  additionalProperties?: boolean | Schema
  required?: readonly string[]
  allOf?: readonly Schema[]
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  description?: string
}

/** Keywords that no type can say. */
const UNTYPED = [
  ...['description', 'examples', 'default', 'deprecated', 'format', 'pattern', 'propertyNames'],
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'multipleOf'],
]
const TYPED = [
  ...['$ref', 'type', 'enum', 'const', 'items', 'properties', 'additionalProperties', 'required'],
  ...['allOf', 'anyOf', 'oneOf'],
]

/** Names that would hide a global type. */
const RENAMED: Readonly<Record<string, string>> = {
  Error: 'ErrorEnvelope',
  PublicApiError: 'PublicErrorEnvelope',
}

/** The name of the type for a schema of the description's components. */
export const typeName = (component: string): string => RENAMED[component] ?? component

/** @throws TypeError for a keyword that this generator does not know */
export function writeShape(schema: Schema): string {
  const unknown = Object.keys(schema).filter((key) => ![...UNTYPED, ...TYPED].includes(key))
  if (unknown.length > 0) throw new TypeError(`No type is known for ${unknown.join(', ')}`)
  if (schema.$ref !== undefined) return typeName(schema.$ref.split('/').at(-1) ?? '')
  const { allOf, anyOf = schema.oneOf } = schema
  if (allOf !== undefined) return allOf.map((each) => group(writeShape(each))).join(' & ')
  if (anyOf !== undefined) return union(anyOf.map(writeShape))
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map(literal))
  if (schema.type === undefined) return 'unknown'
  return union([schema.type].flat().map((type) => writeType(type, schema)))
}

/** Joins types without repetition; `unknown` takes in all others. */
export function union(types: readonly string[]): string {
  return types.includes('unknown') ? 'unknown' : [...new Set(types)].join(' | ')
}

/** An object whose fields are already types. Without fields: an object that has none. */
export function writeFields(fields: readonly Field[]): string {
  if (fields.length === 0) return 'Record<string, never>'
  return `{\n${fields.map(writeField).join('')}}`
}

export type Field = { name: string; type: string; isOptional?: boolean; text?: string | undefined }

function writeField({ name, type, isOptional = false, text }: Field): string {
  return `${writeComment(text?.replaceAll('*/', '*\\/'))}${key(name)}${isOptional ? '?' : ''}: ${type}\n`
}

function writeType(type: string, schema: Schema): string {
  switch (type) {
    case 'integer':
      return 'number'
    case 'array':
      return schema.items === undefined ? 'unknown[]' : `Array<${writeShape(schema.items)}>`
    case 'object':
      return writeObject(schema)
    default:
      return type
  }
}

function writeObject({ properties, required = [], additionalProperties }: Schema): string {
  const rest =
    typeof additionalProperties === 'object' ? writeShape(additionalProperties) : 'unknown'
  if (properties === undefined) return `Record<string, ${rest}>`
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    type: writeShape(schema),
    isOptional: !required.includes(name),
    text: schema.description,
  }))
  const own = writeFields(fields)
  const isOpen = additionalProperties !== undefined && additionalProperties !== false
  return isOpen ? `${own} & Record<string, ${rest}>` : own
}

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll(/['\\]/g, '\\$&')}'` : String(value)

const group = (type: string): string => (type.includes(' | ') ? `(${type})` : type)

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name))
