import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFailedLogins } from '../../src/inbound/login.ts'

function guessesAt(startAt = 1_000_000) {
  const clock = { at: startAt }
  return { clock, failedLogins: createFailedLogins(() => clock.at) }
}

function failTimes(
  failedLogins: ReturnType<typeof createFailedLogins>,
  address: string,
  times: number,
) {
  return Array.from({ length: times }, () => failedLogins.failed(address))
}

test('each failure gets a later reply, and ten failures put an address over its limit', () => {
  const { failedLogins } = guessesAt()
  assert.deepEqual(
    failTimes(failedLogins, '192.0.2.1', 7),
    [250, 500, 1000, 2000, 4000, 8000, 8000],
  )
  failTimes(failedLogins, '192.0.2.1', 2)
  assert.equal(failedLogins.isOverLimit('192.0.2.1'), false)
  failedLogins.failed('192.0.2.1')
  assert.equal(failedLogins.isOverLimit('192.0.2.1'), true)
  assert.equal(failedLogins.isOverLimit('192.0.2.2'), false)
})

test('an address is deleted after a quarter of an hour, also when the clock is set back', () => {
  for (const change of [15 * 60_000, -15 * 60_000]) {
    const { failedLogins, clock } = guessesAt()
    failTimes(failedLogins, '192.0.2.1', 10)
    clock.at += change
    assert.equal(failedLogins.isOverLimit('192.0.2.1'), false)
    assert.equal(failedLogins.failed('192.0.2.1'), 250)
  }
})

test('a successful login clears the failures before it', () => {
  const { failedLogins } = guessesAt()
  failTimes(failedLogins, '192.0.2.1', 9)
  failedLogins.succeeded('192.0.2.1')
  assert.equal(failedLogins.failed('192.0.2.1'), 250)
})

test('the addresses of one IPv6 network count together', () => {
  const { failedLogins } = guessesAt()
  for (let host = 1; host <= 10; host += 1) failedLogins.failed(`2001:db8:1:2::${host}`)
  assert.equal(failedLogins.isOverLimit('2001:db8:1:2:ffff::1'), true)
  assert.equal(failedLogins.isOverLimit('2001:db8:1:3::1'), false)
})

test('a flood of addresses does not increase the memory', () => {
  const { failedLogins } = guessesAt()
  for (let n = 0; n < 30_000; n += 1)
    failedLogins.failed(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`)
  assert.equal(failedLogins.size(), 10_000)
})
