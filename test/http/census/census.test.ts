/**
 * The census: every operation of the specification is described, and answers with its documented shape;
 * and every operation that is described is described whole.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { before, describe, it } from 'node:test'
import { contentOf } from '../example-runner.ts'
import { walkExamples } from '../example-walk.ts'
import { findDifferences, listItems, noteItems } from './shape.ts'
import { type Shape, SPECIFICATION } from './specification.ts'

type Media = { example?: unknown; examples?: object; schema?: object }
type Operation = {
  summary?: string
  tags?: string[]
  security?: object[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}
type Answers = Map<string, { status: number; body: unknown }[]>

const DOCUMENT = path.join(import.meta.dirname, '../../../../shared/spec/api-specification.md')
/** The document does not write the name of the payment provider. */
const ALIASES: Record<string, string> = {
  'POST /webhooks/incoming/stripe-style': 'POST /webhooks/incoming/stripe',
}

/** Their examples show the form of newer clients; the specification has the older one. */
const SHOWN_IN_NEWER_FORM = ['/analytics/timeseries'] as const

const pairs = Object.keys(SPECIFICATION)
const answers: Answers = new Map()
/** Shapes of items of lists that some answer has. */
const seenItems = new Set<Shape>()
let described: Map<string, Operation>

describe(`the census of ${pairs.length} operations of the specification`, () => {
  before(async () => {
    const { steps, reads } = await walkExamples()
    const paths = Object.entries<Record<string, Operation>>(reads['/openapi.json'].body.paths)
    described = new Map(
      paths.flatMap(([url, methods]) =>
        Object.entries(methods).map(([method, operation]): [string, Operation] => [
          nameOf(`${method.toUpperCase()} ${url}`),
          operation,
        ]),
      ),
    )
    for (const { name, answer } of steps) {
      const seen = { status: answer.status, body: contentOf(answer) }
      answers.set(nameOf(name), [...(answers.get(nameOf(name)) ?? []), seen])
    }
    // Without parameters, in place of the example.
    for (const path of SHOWN_IN_NEWER_FORM) {
      const { status, body } = reads[path]
      answers.set(`GET ${path}`, [{ status, body }])
    }
    for (const [pair, [, shape]] of Object.entries(SPECIFICATION)) {
      for (const { body } of answers.get(nameOf(pair)) ?? [])
        noteItems(shape ?? 'any', body, seenItems)
    }
  })

  const isThere = existsSync(DOCUMENT)
  it('counts each operation of the document', {
    skip: !isThere && 'the document is absent',
  }, () => {
    const listed = listPairs(readFileSync(DOCUMENT, 'utf8'))
    assert.deepEqual([...listed].sort(), [...pairs].sort())
  })

  for (const [pair, [status, shape]] of Object.entries(SPECIFICATION)) {
    it(`${pair} is described, and answers with its documented shape`, () => {
      assert.ok(described.has(nameOf(pair)), 'it is not in /openapi.json')
      const seen = answers.get(nameOf(pair)) ?? []
      const wanted = seen.filter((answer) => answer.status === status)
      assert.ok(wanted.length > 0, `no answer ${status} among ${seen.map((each) => each.status)}`)
      const bodies = wanted.map(({ body }) => body)
      if (shape === null) {
        assert.deepEqual(
          bodies.filter((body) => body !== undefined),
          [],
        )
        return
      }
      assert.deepEqual(
        bodies.flatMap((body) => findDifferences(shape, body)),
        [],
      )
      const unseen = listItems(shape).filter((item) => !seenItems.has(item))
      assert.deepEqual(unseen, [], 'no answer has such an item in its lists')
    })
  }

  it('finds every described operation whole', () => {
    const faults = [...described].flatMap(([name, operation]) =>
      faultsOf(operation).map((fault) => `${name}: ${fault}`),
    )
    assert.deepEqual(faults, [])
  })
})

/** Parameters are named by their places, since documents and code name them differently. */
function nameOf(pair: string): string {
  return pair.replaceAll(/:\w+|\{\w+\}/g, '{}')
}

/** The pairs of the tables and of the headings of the document. */
function listPairs(document: string): Set<string> {
  const found = new Set<string>()
  for (const line of document.split('\n')) {
    const row = /^\| ([A-Z, ]+) \| (\/[^|]*) \|/.exec(line) ?? /^#### ([A-Z]+) (\/\S+)/.exec(line)
    if (row === null) continue
    for (const method of row[1]?.split(', ') ?? []) {
      for (const text of row[2]?.split(', ') ?? []) {
        const pair = `${method} ${text.trim().split(' ')[0]}`
        found.add(ALIASES[pair] ?? pair)
      }
    }
  }
  return found
}

function faultsOf({ summary, tags, security, requestBody, responses }: Operation): string[] {
  const successes = Object.entries(responses).filter(([status]) => /^[23]/.test(status))
  const hasExample = ({ content }: { content?: Record<string, Media> }) =>
    content === undefined || Object.values(content).some(isShown)
  return [
    ...((summary ?? '').length < 5 ? ['no summary'] : []),
    ...(tags?.length === 1 ? [] : ['not one tag']),
    ...(security === undefined ? ['no security'] : []),
    ...(requestBody === undefined || hasExample(requestBody) ? [] : ['no example of a request']),
    ...(successes.length === 0 ? ['no response of a success'] : []),
    ...(successes.some(([, response]) => hasExample(response)) ? [] : ['no example of a response']),
  ]
}

function isShown({ example, examples }: Media): boolean {
  return example !== undefined || Object.keys(examples ?? {}).length > 0
}
