/** The types of the API's clients, `src/client/types.d.ts`, made from the description of the API. */
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { writeComment } from '../schema/write-comment.ts'
import type { DescribedOperation, Description, Parameter } from './read-description.ts'
import { type Field, typeName, union, writeFields, writeShape } from './write-shape.ts'

const ROOT = path.join(import.meta.dirname, '..', '..')
const PLACE = 'src/client/types.d.ts'

export const CLIENT_TYPES = path.join(ROOT, PLACE)

const HEAD = writeComment(
  `The operations and records of the API, for its clients. Types only: the file imports nothing.
Made by \`npm run client\` from the route table: change that.`,
)

const OPERATIONS = writeComment(
  `Each operation by its method and path. \`params\`: those of the path. \`answer\`: the JSON of a success; null for an answer without JSON, such as a 204 or a file.`,
)

/** The text of the file, formatted. @throws TypeError for a schema that has no type */
export function writeClientTypes({ paths, components }: Description): string {
  const operations = Object.entries(paths).flatMap(([place, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${place}`,
      type: writeOperation(operation),
      text: operation.summary,
    })),
  )
  const records = Object.entries(components.schemas).map(([name, schema]) => {
    const comment = writeComment(schema.description)
    return `${comment}export type ${typeName(name)} = ${writeShape(schema)}\n`
  })
  const text = `${HEAD}
${OPERATIONS}export interface Operations ${writeFields(operations)}
${records.join('\n')}`
  return format(text)
}

function writeOperation({ parameters = [], requestBody, responses }: DescribedOperation): string {
  const own = (place: Parameter['in']) =>
    writeFields(parameters.filter((each) => each.in === place).map(toField))
  return writeFields([
    { name: 'params', type: own('path') },
    { name: 'query', type: own('query') },
    { name: 'body', type: writeBody(requestBody) },
    { name: 'answer', type: writeAnswer(responses) },
  ])
}

function toField({ name, required, schema }: Parameter): Field {
  return { name, type: writeShape(schema), isOptional: !required, text: schema.description }
}

/** Forms with files are `FormData`. */
function writeBody(body: DescribedOperation['requestBody']): string {
  if (body === undefined) return 'null'
  const json = body.content['application/json']
  return json === undefined ? 'FormData' : writeShape(json.schema)
}

function writeAnswer(responses: DescribedOperation['responses']): string {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const types = successes.map(([, { content = {} }]) => {
    const json = content['application/json']
    return json === undefined ? 'null' : writeShape(json.schema)
  })
  return union(types)
}

function format(text: string): string {
  const program = path.join(ROOT, 'node_modules', '.bin', 'biome')
  const args = ['format', `--stdin-file-path=${PLACE}`]
  return execFileSync(program, args, { cwd: ROOT, input: text, encoding: 'utf8' })
}
