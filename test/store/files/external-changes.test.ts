import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import {
  NOTICED_WITHIN_MS,
  watchExternalChanges,
} from '../../../src/store/files/external-changes.ts'

test('a change is noticed in time', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let version = 1
  const writer = { isInTransaction: () => false, value: () => () => version }
  const watch = watchExternalChanges(writer as never, silentLog())
  let calls = 0
  watch.subscribe(() => {
    calls += 1
  })
  t.mock.timers.tick(1_000)
  version = 2
  t.mock.timers.tick(NOTICED_WITHIN_MS - 1)
  assert.equal(calls, 1)
  watch.stop()
})

test('a change during a transaction of the writer is noticed at its end', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let version = 1
  let isInTransaction = true
  let calls = 0
  const writer = { isInTransaction: () => isInTransaction, value: () => () => version }
  const watch = watchExternalChanges(writer as never, silentLog())
  watch.subscribe(() => {
    calls += 1
  })
  version = 2
  watch.ended()
  assert.equal(calls, 0, 'nobody looks before it is time')
  t.mock.timers.tick(150)
  assert.equal(calls, 0)
  isInTransaction = false
  watch.ended()
  assert.equal(calls, 1)
  version = 3
  watch.ended()
  assert.equal(calls, 1, 'one look made up for')
  t.mock.timers.tick(150)
  assert.equal(calls, 2)
  watch.stop()
})
