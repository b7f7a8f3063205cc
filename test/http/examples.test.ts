/** The examples of the API's description, sent to a server and compared with its answers. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { exampleSequence } from './example-sequence.ts'
import { type ExampleWalk, walkExamples } from './example-walk.ts'

let walk: ExampleWalk

before(async () => {
  walk = await walkExamples()
})

for (const [index, { name }] of exampleSequence.entries()) {
  test(`the example of ${name} matches the response of the server`, () => {
    const step = walk.steps[index]
    assert.equal(step?.name, name)
    if (step.difference !== undefined) throw step.difference
  })
}

test('every described operation has an example, and all examples run here', () => {
  const { body } = walk.reads['/openapi.json']
  const paths = Object.entries<Record<string, unknown>>(body.paths)
  const described = paths.flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const shown = exampleSequence.map(({ name }) => name.replaceAll(/:(\w+)/g, '{$1}'))
  assert.deepEqual(shown.toSorted(), described.toSorted())
})
