import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { type TestContext, test } from 'node:test'
import { startIdleCollection } from '../../../src/features/operation/idle-memory.ts'

const MB = 1024 * 1024
const LOOK_MS = 10_000
/** Five minutes. */
const REST_LOOKS = 30

/** A server whose state the test sets: its memory falls to 40 MB with each collection. */
function watch(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const state = { megabytes: 60, utilization: 0.01, collections: 0 }
  const stop = startIdleCollection({
    heapBytes: () => state.megabytes * MB,
    utilization: () => state.utilization,
    collect: () => {
      state.collections += 1
      state.megabytes = 40
    },
  })
  t.after(stop)
  const look = (times = 1) => {
    for (let time = 0; time < times; time += 1) t.mock.timers.tick(LOOK_MS)
    return state.collections
  }
  return { state, look, stop }
}

test('memory is collected once the thread is idle, and again after it has grown', (t) => {
  const { state, look, stop } = watch(t)
  state.utilization = 0.5
  assert.equal(look(), 0, 'it works')
  state.utilization = 0.01
  assert.equal(look(), 0, 'it may have a pause')
  assert.equal(look(), 1)
  assert.equal(look(REST_LOOKS), 1)
  state.megabytes = 55
  assert.equal(look(), 1, 'a pause for little')
  state.megabytes = 56
  assert.equal(look(), 2)
  state.megabytes = 30
  assert.equal(look(REST_LOOKS), 2)
  state.megabytes = 46
  assert.equal(look(), 3, 'V8 had given some back by itself')
  stop()
  state.megabytes = 500
  assert.equal(look(REST_LOOKS), 3)
})

test('a server with few requests is never stopped for a collection', (t) => {
  const { state, look } = watch(t)
  state.utilization = 0.03
  state.megabytes = 500
  assert.equal(look(1000), 0)
  for (let round = 0; round < 100; round += 1) {
    state.utilization = round % 2 === 0 ? 0.01 : 0.03
    assert.equal(look(), 0, 'idle between two requests')
  }
})

test('a collection comes every five minutes at most', (t) => {
  const { state, look } = watch(t)
  assert.equal(look(2), 1)
  state.megabytes = 500
  assert.equal(look(REST_LOOKS - 1), 1)
  assert.equal(look(), 2)
})

test('the collection of this thread gives back the nursery and what is left of large messages', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const before = process.memoryUsage()
  let garbage: Buffer[] | undefined = Array.from({ length: 38 }, () => Buffer.alloc(MB))
  assert.ok(process.memoryUsage().arrayBuffers >= before.arrayBuffers + 38 * MB)
  garbage = undefined
  assert.equal(garbage, undefined)
  const stop = startIdleCollection()
  const idle = t.mock.method(performance, 'eventLoopUtilization', () => ({
    idle: 1,
    active: 0,
    utilization: 0,
  }))
  for (let look = 0; look < 2; look += 1) t.mock.timers.tick(LOOK_MS)
  assert.ok(idle.mock.callCount() > 0)
  assert.ok(process.memoryUsage().arrayBuffers < before.arrayBuffers + MB)
  stop()
})
