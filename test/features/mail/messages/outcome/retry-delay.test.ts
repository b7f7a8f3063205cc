import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryDelayMs } from '../../../../../src/features/mail/messages/outcome/record-attempts.ts'
import { createThrottle } from '../../../../../src/features/mail/messages/queue/throttle.ts'

test('the delays follow the setting, and the last one repeats', () => {
  const middle = () => 0.5
  const waits = [0, 1, 2, 7].map((failures) => retryDelayMs([60, 300, 600], failures, middle))
  assert.deepEqual(waits, [60, 300, 600, 600])
})

test('the jitter of a delay is at most 15%', () => {
  assert.equal(
    retryDelayMs([1000], 0, () => 0),
    850,
  )
  assert.equal(
    retryDelayMs([1000], 0, () => 1),
    1150,
  )
})

test('each project has its own rate of emails per second', () => {
  let at = 0
  const throttle = createThrottle(5, () => at)
  assert.equal(throttle.allowance('p'), 5)
  throttle.spend('p', 5)
  assert.equal(throttle.allowance('p'), 0)
  assert.equal(throttle.allowance('q'), 5)
  at = 400
  assert.equal(throttle.allowance('p'), 2)
  at = 60_000
  assert.equal(throttle.allowance('p'), 5)
})

test('0 emails a second is no throttle', () => {
  const throttle = createThrottle(0, () => 0)
  throttle.spend('p', 1_000)
  assert.equal(throttle.allowance('p'), Number.POSITIVE_INFINITY)
})
