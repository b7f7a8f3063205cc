/**
 * Looks at whose work every operation gives to what all projects share: threads for scans and previews, and
 * resolvers. Work of nobody would wait in no line, and no limit would apply to it.
 */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { exampleSequence } from './example-sequence.ts'
import { type ExampleWalk, walkExamples } from './example-walk.ts'

let walk: ExampleWalk

before(async () => {
  walk = await walkExamples()
})

/** They change something before they read what they show of it, and so go on without their client. */
const CHANGE_FIRST = ['POST /emails/:id/cancel', 'POST /emails/:id/retry']

const used = new Set<string>()

for (const [index, { name }] of exampleSequence.entries()) {
  test(`S31: ${name} works in the line of its caller`, () => {
    const step = walk.steps[index]
    assert.equal(step?.name, name)
    if (step.difference !== undefined) throw step.difference
    for (const { of, key, hasClient } of step.uses) {
      used.add(of)
      assert.equal(key, walk.projectId, of)
      // The result of a scan may be shared by several callers.
      const goesOn = of.startsWith('scan.') || CHANGE_FIRST.includes(name)
      assert.ok(hasClient || goesOn, `${of} goes on when the client leaves`)
    }
  })
}

test('the operations use what projects share', () => {
  const expected = ['scan.list', 'outbound.preview', 'outbound.inspect', 'dns.mx', 'dns.a']
  assert.deepEqual(
    expected.filter((one) => !used.has(one)),
    [],
  )
})
