import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../src/base/errors.ts'
import { createHourlyLimit } from '../../src/work/limiter.ts'

test('an hourly limit gives back, slides, and forgets the names that were idle longest', () => {
  const clock = { now: 1_000 }
  const limit = createHourlyLimit({ limit: 2, now: () => clock.now, publicText: 'Too many.' })
  const isFull = (name: string) => {
    try {
      limit.enter(name).counted()
      return false
    } catch (error) {
      assert.ok(error instanceof AppError)
      return error.details?.retryAfter
    }
  }
  assert.deepEqual([isFull('a'), isFull('a'), isFull('a')], [false, false, 3600])
  assert.equal(isFull('c'), false)
  limit.enter('c').abandoned()
  assert.deepEqual([isFull('c'), isFull('c')], [false, 3600])
  clock.now += 1_800_000
  assert.equal(isFull('a'), 1800)
  clock.now += 1_800_000
  assert.equal(isFull('a'), false)
  assert.deepEqual([isFull('b'), isFull('b'), isFull('b')], [false, false, 3600])
  for (let index = 0; index < 20_000; index += 1) limit.enter(`other ${index}`).counted()
  assert.equal(isFull('b'), false)
})
