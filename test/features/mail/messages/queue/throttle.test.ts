import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createThrottle } from '../../../../../src/features/mail/messages/queue/throttle.ts'

test('a project is short from the first refused request until none was refused for a while', () => {
  let at = 0
  const throttle = createThrottle(2, () => at)
  assert.equal(throttle.allowance('p'), 2)
  assert.deepEqual(throttle.status('p'), { emailsPerSecond: 2, isShort: false })
  throttle.spend('p', 2)
  assert.equal(throttle.allowance('p'), 0)
  assert.equal(throttle.status('p').isShort, true)
  at += 1_000
  assert.equal(throttle.allowance('p'), 2)
  assert.equal(throttle.status('p').isShort, true)
  assert.equal(throttle.status('another').isShort, false)
  at += 2_000
  assert.equal(throttle.status('p').isShort, false)
})

test('a slow rate keeps a project short from one email to the next', () => {
  let at = 0
  const throttle = createThrottle(0.1, () => at)
  throttle.spend('p', 1)
  throttle.allowance('p')
  at += 9_900
  assert.equal(throttle.status('p').isShort, true)
})

test('without a limit no project is short', () => {
  const throttle = createThrottle(0, () => 0)
  assert.equal(throttle.allowance('p'), Number.POSITIVE_INFINITY)
  assert.deepEqual(throttle.status('p'), { emailsPerSecond: null, isShort: false })
})
