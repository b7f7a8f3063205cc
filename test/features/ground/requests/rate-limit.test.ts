import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRateLimiter } from '../../../../src/features/ground/requests/rate-limit.ts'

function limiterAt(limit: number, startAt = 1_000_000) {
  const clock = { at: startAt }
  return { clock, limiter: createRateLimiter(limit, () => clock.at) }
}

test('a caller may make as many requests as the limit; then the error has the time to wait', () => {
  const { limiter, clock } = limiterAt(3)
  assert.equal(limiter.take('a')?.remaining, 2)
  clock.at += 10_000
  limiter.take('a')
  assert.deepEqual(limiter.take('a'), {
    isAllowed: true,
    limit: 3,
    remaining: 0,
    resetSeconds: 60,
    retryAfterSeconds: 50,
  })
  const refused = limiter.take('a')
  assert.equal(refused?.isAllowed, false)
  assert.equal(refused?.retryAfterSeconds, 50)
})

test('the window slides: each request that leaves it allows one more', () => {
  const { limiter, clock } = limiterAt(2)
  limiter.take('a')
  clock.at += 30_000
  limiter.take('a')
  clock.at += 30_000
  assert.equal(limiter.take('a')?.isAllowed, true)
  assert.equal(limiter.take('a')?.isAllowed, false)
})

test('a refused request does not count, so the announced wait is enough', () => {
  const { limiter, clock } = limiterAt(1)
  limiter.take('a')
  for (let round = 0; round < 50; round += 1) limiter.take('a')
  clock.at += (limiter.take('a')?.retryAfterSeconds ?? 0) * 1000
  assert.equal(limiter.take('a')?.isAllowed, true)
})

test('callers do not share a window', () => {
  const { limiter } = limiterAt(1)
  assert.equal(limiter.take('secret p')?.isAllowed, true)
  assert.equal(limiter.take('public p')?.isAllowed, true)
  assert.equal(limiter.take('secret q')?.isAllowed, true)
  assert.equal(limiter.take('secret p')?.isAllowed, false)
})

test('a limit of 0 is no limit', () => {
  const { limiter } = limiterAt(0)
  assert.equal(limiter.take('a'), undefined)
  assert.equal(limiter.size(), 0)
})

test('windows of callers without requests are deleted', () => {
  const { limiter, clock } = limiterAt(10)
  for (let caller = 0; caller < 1000; caller += 1) limiter.take(`caller ${caller}`)
  assert.equal(limiter.size(), 1000)
  clock.at += 61_000
  limiter.take('a')
  assert.equal(limiter.size(), 1)
})

test('a clock set back by a day refuses no caller', () => {
  const { limiter, clock } = limiterAt(1, 10 * 86_400_000)
  limiter.take('a')
  clock.at -= 86_400_000
  assert.equal(limiter.take('a')?.isAllowed, true)
})

test('never more than the limit is allowed in any 59 seconds, at any pace', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 200 })
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 5 }), (waits, limit) => {
      const { limiter, clock } = limiterAt(limit)
      const allowed: number[] = []
      for (const wait of waits) {
        clock.at += wait
        if (limiter.take('a')?.isAllowed) allowed.push(clock.at)
      }
      for (const [index, at] of allowed.entries()) {
        const before = allowed[index - limit]
        assert.ok(before === undefined || at - before > 59_000)
      }
    }),
    { numRuns: 50 },
  )
})
