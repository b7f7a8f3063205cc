import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lookAfterWrites } from '../../src/store/look-after-writes.ts'
import { createNotifier } from '../../src/work/loop.ts'

test('a look follows writes, not more than one in its time, and none follows silence', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const [own, others] = [createNotifier(), createNotifier()]
  const store = { onCommit: own.listen, onExternalChange: others.listen }
  let looks = 0
  const stop = lookAfterWrites(store, 1_000, () => {
    looks += 1
  })
  t.mock.timers.tick(60_000)
  assert.equal(looks, 0)
  for (let write = 0; write < 5; write += 1) {
    own.notify()
    t.mock.timers.tick(100)
  }
  assert.equal(looks, 0)
  t.mock.timers.tick(500)
  assert.equal(looks, 1)
  t.mock.timers.tick(60_000)
  assert.equal(looks, 1)
  others.notify()
  assert.equal(looks, 2, 'another process has written')
  own.notify()
  stop()
  others.notify()
  t.mock.timers.tick(60_000)
  assert.equal(looks, 2)
})
