import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type AttemptLimit,
  createFailureLimit,
  createWindowLimit,
  type LimitedAttempt,
} from '../../src/work/limiter.ts'
import { START } from '../core.ts'

const HOUR_MS = 3_600_000

function begun(limit: AttemptLimit, key = 'k'): LimitedAttempt {
  const attempt = limit.begin(key)
  assert.ok(typeof attempt !== 'number', `refused for ${attempt} ms`)
  return attempt
}

function fail(limit: AttemptLimit, times: number, key = 'k'): void {
  for (let count = 0; count < times; count += 1) begun(limit, key).counted()
}

function makeLimit(free = 3) {
  const clock = { now: START }
  return { clock, limit: createFailureLimit(free, () => clock.now) }
}

describe('the limit of failures', () => {
  it('closes for a second after the free failures, then for twice as long each time, to 15 minutes', () => {
    const { clock, limit } = makeLimit()
    fail(limit, 3)
    for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]) {
      assert.equal(limit.begin('k'), seconds * 1000)
      clock.now += seconds * 1000 - 1
      assert.equal(limit.begin('k'), 1)
      clock.now += 1
      begun(limit).counted()
    }
  })

  it('does not count attempts that it refuses', () => {
    const { clock, limit } = makeLimit()
    fail(limit, 3)
    for (let count = 0; count < 100; count += 1) assert.equal(limit.begin('k'), 1000)
    clock.now += 1000
    begun(limit).abandoned()
  })

  it('forgets failures after a success, and an hour after the last', () => {
    const { clock, limit } = makeLimit()
    fail(limit, 2)
    begun(limit).cleared()
    assert.equal(limit.size(), 0)
    fail(limit, 3)
    clock.now += HOUR_MS
    fail(limit, 3)
    assert.equal(limit.begin('k'), 1000)
  })

  it('counts attempts in flight, so that many at a time get no more tries', () => {
    const { clock, limit } = makeLimit()
    const flying = [begun(limit), begun(limit), begun(limit)]
    assert.equal(limit.begin('k'), 1000)
    for (const attempt of flying) attempt.counted()
    clock.now += 1000
    const probe = begun(limit)
    assert.equal(limit.begin('k'), 1000, 'one probe at a time')
    probe.abandoned()
    begun(limit).counted()
  })

  it('keeps keys apart', () => {
    const { limit } = makeLimit()
    fail(limit, 3)
    begun(limit, 'other').abandoned()
  })

  it('a clock that is set back by a day closes for no longer than before', () => {
    const { clock, limit } = makeLimit()
    fail(limit, 3)
    clock.now -= 24 * HOUR_MS
    assert.equal(limit.begin('k'), 1000)
    clock.now += 1000
    begun(limit).abandoned()
  })

  it('remembers a bounded number of keys', () => {
    const { limit } = makeLimit()
    for (let count = 0; count < 20_500; count += 1) begun(limit, `k${count}`).counted()
    assert.equal(limit.size(), 20_000)
  })
})

describe('the limit of failures in any hour', () => {
  it('closes until the oldest failure is an hour old', () => {
    const clock = { now: START }
    const limit = createWindowLimit({ limit: 100, windowMs: HOUR_MS, now: () => clock.now })
    for (let count = 0; count < 100; count += 1) {
      begun(limit).counted()
      clock.now += 1000
    }
    assert.equal(limit.begin('k'), HOUR_MS - 100_000)
    clock.now += HOUR_MS - 100_000
    const attempt = begun(limit)
    assert.equal(limit.begin('k'), 1000)
    attempt.counted()
  })

  it('a success forgets nothing, and a clock that is set back forgets failures', () => {
    const clock = { now: START }
    const limit = createWindowLimit({ limit: 2, windowMs: HOUR_MS, now: () => clock.now })
    begun(limit).counted()
    begun(limit).cleared()
    begun(limit).counted()
    assert.equal(limit.begin('k'), HOUR_MS)
    clock.now -= HOUR_MS
    begun(limit).abandoned()
    assert.equal(limit.size(), 0)
  })
})
