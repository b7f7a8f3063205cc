import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createDeadline } from '../../../src/outbound/smtp/commands.ts'

/** Deadlines on a clock that a test moves. */
function startClock(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let at = 1_000
  t.mock.method(performance, 'now', () => at)
  const start = () => {
    let count = 0
    return { ...createDeadline(() => (count += 1)), count: () => count }
  }
  const pass = (ms: number) => {
    at += ms
    t.mock.timers.tick(ms)
  }
  return { start, pass }
}

test('a deadline fires once, at its limit', (t) => {
  const { start, pass } = startClock(t)
  const deadline = start()
  deadline.set(20)
  pass(19)
  assert.equal(deadline.count(), 0)
  pass(1)
  assert.equal(deadline.count(), 1)
  pass(1_000)
  assert.equal(deadline.count(), 1)
})

test('a new limit replaces the previous one, longer or shorter', (t) => {
  const { start, pass } = startClock(t)
  const [longer, shorter] = [start(), start()]
  longer.set(5)
  longer.set(40)
  shorter.set(60_000)
  shorter.set(10)
  pass(5)
  assert.deepEqual([longer.count(), shorter.count()], [0, 0])
  pass(5)
  assert.deepEqual([longer.count(), shorter.count()], [0, 1])
  pass(29)
  assert.equal(longer.count(), 0)
  pass(1)
  assert.equal(longer.count(), 1)
  pass(60_000)
  assert.deepEqual([longer.count(), shorter.count()], [1, 1])
})

test('a deadline without a limit, or a stopped one, does not fire', (t) => {
  const { start, pass } = startClock(t)
  const [unset, stopped] = [start(), start()]
  unset.set(5)
  unset.set(null)
  stopped.set(5)
  stopped.stop()
  pass(30)
  assert.deepEqual([unset.count(), stopped.count()], [0, 0])
  unset.set(1)
  pass(1)
  assert.equal(unset.count(), 1)
})
