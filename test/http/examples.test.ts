/** The examples of the API's description, sent to a server and compared with its answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import supertest from 'supertest'
import { match } from './example-match.ts'
import { contentOf, createExampleRunner } from './example-runner.ts'
import { createExampleDns, exampleOptions, exampleSequence } from './example-sequence.ts'
import { useService } from './service.ts'

const dns = createExampleDns()
const started = useService(exampleOptions(dns))
const { bindings, prepare } = createExampleRunner(started, dns)

for (const step of exampleSequence) {
  test(`the example of ${step.name} matches the response of the server`, async () => {
    const { example, credentials, send } = await prepare(step)
    const answer = await send(credentials)
    assert.equal(answer.status, example.status, answer.text)
    match(example.response, contentOf(answer), bindings)
  })
}

test('every described operation has an example, and all examples run here', async () => {
  const { body } = await supertest(started.service.url).get('/openapi.json')
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
