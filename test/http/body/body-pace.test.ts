import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createBodyPace } from '../../../src/http/body/body-pace.ts'

function watch(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const pace = createBodyPace()
  const slow: string[] = []
  pace.watch((error) => slow.push(error.code))
  return { pace, slow, pass: (ms: number) => t.mock.timers.tick(ms) }
}

test('a body with less than 10 KB in ten seconds is too slow', (t) => {
  const { pace, slow, pass } = watch(t)
  pace.count(10 * 1024 - 1)
  pass(9_999)
  assert.deepEqual(slow, [])
  pass(1)
  assert.deepEqual(slow, ['REQUEST_TIMEOUT'])
})

test('a fast start does not excuse a body that then stalls', (t) => {
  const { pace, slow, pass } = watch(t)
  pace.count(50 * 1024 * 1024)
  pass(10_000)
  assert.deepEqual(slow, [])
  pass(10_000)
  assert.deepEqual(slow, ['REQUEST_TIMEOUT'])
})

test('a kilobyte a second is fast enough, for as long as it lasts', (t) => {
  const { pace, slow, pass } = watch(t)
  for (let second = 0; second < 60; second += 1) {
    pace.count(1024)
    pass(1_000)
  }
  assert.deepEqual(slow, [])
})

test('a body with more memory must come faster: with 64 MB, 2.7 MB in ten seconds', (t) => {
  const { pace, slow, pass } = watch(t)
  pace.reserve(64 * 1024 * 1024)
  for (let window = 0; window < 12; window += 1) {
    pace.count((64 * 1024 * 1024) / 24)
    pass(10_000)
  }
  assert.deepEqual(slow, [])
  pace.count((64 * 1024 * 1024) / 24 - 1)
  pass(10_000)
  assert.deepEqual(slow, ['REQUEST_TIMEOUT'])
})

test('time in which the server does not wait for the sender does not count', (t) => {
  const { pace, slow, pass } = watch(t)
  pace.pause()
  pass(1_000_000)
  assert.deepEqual(slow, [])
})
