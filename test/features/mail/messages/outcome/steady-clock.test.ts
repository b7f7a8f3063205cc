import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../../src/base/clock.ts'
import { createSteadyClock } from '../../../../../src/features/mail/messages/delivery/record-results.ts'

function open() {
  const time = { clock: Date.UTC(2026, 10, 26), elapsed: 5_000 }
  const steady = createSteadyClock(
    () => time.clock,
    () => time.elapsed,
  )
  const pass = (ms: number) => {
    time.clock += ms
    time.elapsed += ms
  }
  const jump = (ms: number) => {
    time.clock += ms
  }
  return { steady, pass, jump, lagMs: () => time.clock - steady() }
}

test('without jumps it is the time itself, however seldom it is read', () => {
  const { lagMs, pass } = open()
  for (const ms of [0, 1, SECOND_MS, MINUTE_MS, HOUR_MS, 40 * DAY_MS, 3]) {
    pass(ms)
    assert.equal(lagMs(), 0)
  }
})

test('F3: a jump forward is believed after ten minutes, and not before', () => {
  for (const between of [SECOND_MS, 90 * SECOND_MS, 9 * MINUTE_MS]) {
    const { lagMs, pass, jump } = open()
    pass(HOUR_MS)
    jump(DAY_MS)
    assert.equal(lagMs(), DAY_MS)
    for (let ms = between; ms < 10 * MINUTE_MS; ms += between) {
      pass(between)
      assert.equal(lagMs(), DAY_MS)
    }
    pass(11 * MINUTE_MS)
    assert.equal(lagMs(), 0)
  }
})

test('a clock that is corrected by seconds is believed at once', () => {
  const { lagMs, pass, jump } = open()
  for (const ms of [0.7, 200, 30 * SECOND_MS]) {
    jump(ms)
    assert.equal(lagMs(), 0)
    pass(HOUR_MS)
  }
})

test('F3: a clock that is set right within ten minutes never was the time', () => {
  const { lagMs, pass, jump } = open()
  jump(DAY_MS)
  assert.equal(lagMs(), DAY_MS)
  pass(9 * MINUTE_MS)
  jump(-DAY_MS)
  for (let minute = 0; minute < 30; minute += 1) {
    assert.equal(lagMs(), 0)
    pass(MINUTE_MS)
  }
})

test('F3: a clock that is set back is believed at once', () => {
  const { lagMs, pass, jump } = open()
  pass(HOUR_MS)
  jump(-DAY_MS)
  assert.equal(lagMs(), 0)
  pass(20 * MINUTE_MS)
  assert.equal(lagMs(), 0)
})
