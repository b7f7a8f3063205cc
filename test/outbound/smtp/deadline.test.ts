import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeadline } from '../../../src/outbound/smtp/wire.ts'

function alarmAndRing() {
  const fired = Promise.withResolvers<number>()
  const began = performance.now()
  let count = 0
  const alarm = createDeadline(() => {
    count++
    fired.resolve(performance.now() - began)
  })
  return { alarm, fired: fired.promise, count: () => count }
}

test('a deadline fires once, at its limit', async () => {
  const { alarm, fired, count } = alarmAndRing()
  alarm.set(20)
  assert.ok((await fired) >= 20)
  const other = alarmAndRing()
  other.alarm.set(30)
  await other.fired
  assert.equal(count(), 1)
})

test('a new limit replaces the previous one, longer or shorter', async () => {
  const longer = alarmAndRing()
  longer.alarm.set(5)
  longer.alarm.set(40)
  assert.ok((await longer.fired) >= 40)
  const shorter = alarmAndRing()
  shorter.alarm.set(60_000)
  shorter.alarm.set(10)
  const afterMs = await shorter.fired
  assert.ok(afterMs >= 10 && afterMs < 10_000)
})

test('a deadline without a limit, or a stopped one, does not fire', async () => {
  const unset = alarmAndRing()
  unset.alarm.set(5)
  unset.alarm.set(null)
  const stopped = alarmAndRing()
  stopped.alarm.set(5)
  stopped.alarm.stop()
  const last = alarmAndRing()
  last.alarm.set(30)
  await last.fired
  assert.deepEqual([unset.count(), stopped.count()], [0, 0])
  unset.alarm.set(1)
  await unset.fired
})
