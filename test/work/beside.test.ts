import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBeside } from '../../src/work/beside.ts'

test('work beside a loop runs at the same time, failures are told, and the stop waits for all', async () => {
  const errors: unknown[] = []
  const beside = createBeside((error) => errors.push(error))
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let begun = 0
  for (const { promise } of held) {
    beside.run(() => {
      begun += 1
      return promise
    })
  }
  assert.equal(begun, 2)
  let isStopped = false
  const stopped = beside.stop().then(() => {
    isStopped = true
  })
  held[0]?.reject(new Error('no'))
  await new Promise(setImmediate)
  assert.equal(isStopped, false)
  assert.match(String(errors[0]), /no/)
  held[1]?.resolve()
  await stopped
  beside.run(async () => {
    begun += 1
  })
  assert.equal(begun, 2)
})
