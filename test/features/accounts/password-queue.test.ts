import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { createHourlyLimit } from '../../../src/features/accounts/hourly-limit.ts'
import { createHashQueue } from '../../../src/features/accounts/password-queue.ts'
import { isPassword } from '../../../src/features/accounts/passwords.ts'

test('ten passwords wait for the one that is hashed; the next is refused', async () => {
  const hash = createHashQueue()
  const taken = Array.from({ length: 11 }, (_, index) => hash(`password ${index}`))
  await assert.rejects(hash('one too many'), (error) => {
    assert.ok(error instanceof AppError)
    assert.deepEqual(
      [error.status, error.code, error.details?.retryAfter],
      [503, 'EXTERNAL_SERVICE_ERROR', 2],
    )
    return true
  })
  const hashes = await Promise.all(taken)
  assert.equal(await isPassword('password 10', hashes[10] ?? ''), true)
  assert.ok(await hash('the line is free again'))
})

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
