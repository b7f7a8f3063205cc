import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { createHourlyLimit } from '../../../src/features/accounts/hourly-limit.ts'

test('an hourly limit gives back, slides, and forgets the names that were idle longest', () => {
  const clock = { now: 1_000 }
  const limit = createHourlyLimit({ limit: 2, now: () => clock.now, publicText: 'Too many.' })
  const isFull = (name: string) => {
    try {
      limit.take(name)
      return false
    } catch (error) {
      assert.ok(error instanceof AppError)
      return error.details?.retryAfter
    }
  }
  assert.deepEqual([isFull('a'), isFull('a'), isFull('a')], [false, false, 3600])
  limit.giveBack('a')
  assert.deepEqual([isFull('a'), isFull('a')], [false, 3600])
  clock.now += 1_800_000
  assert.equal(isFull('a'), 1800)
  clock.now += 1_800_000
  assert.equal(isFull('a'), false)
  assert.deepEqual([isFull('b'), isFull('b'), isFull('b')], [false, false, 3600])
  for (let index = 0; index < 10_000; index += 1) limit.take(`other ${index}`)
  assert.equal(isFull('b'), false)
})
