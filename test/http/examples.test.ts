/** The examples of the API's description, sent to a server and compared with its answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import supertest from 'supertest'
import { testExamples } from './example-run.ts'
import { exampleSequence } from './example-sequence.ts'

const { service } = testExamples('key')

test('every described operation has an example, and all examples run here', async () => {
  const { body } = await supertest(service.url).get('/openapi.json')
  const paths = Object.entries<Record<string, unknown>>(body.paths)
  const described = paths.flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const shown = exampleSequence.map(({ name }) => name.replaceAll(/:(\w+)/g, '{$1}'))
  const without = described.filter((name) => !shown.includes(name))
  const outdated = shown.filter((name) => !described.includes(name))
  assert.deepEqual(
    { without, outdated },
    { without: [], outdated: [] },
    'an operation needs an example in src/http/examples/ and a step in test/http/example-sequence.ts',
  )
})
