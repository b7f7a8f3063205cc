import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE_MS, SECOND_MS } from '../../../src/base/clock.ts'
import { startSettler } from '../../../src/features/ground/settler.ts'

const turn = () => new Promise(setImmediate)

test('a settler runs at the start, when it is woken, and each minute', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  let runs = 0
  let wake: (() => void) | undefined
  const settler = startSettler({
    settle: async () => {
      runs += 1
    },
    subscribe: (given) => {
      wake = given
      return []
    },
  })
  await turn()
  assert.equal(runs, 1)
  wake?.()
  await turn()
  assert.equal(runs, 2)
  t.mock.timers.tick(MINUTE_MS - 1)
  await turn()
  assert.equal(runs, 2)
  t.mock.timers.tick(1)
  await turn()
  assert.equal(runs, 3)
  await settler.stop()
})

test('a settler whose work waits runs again in a second, until none waits', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  let runs = 0
  const settle = async () => {
    runs += 1
    return runs < 3 ? ('soon' as const) : undefined
  }
  const settler = startSettler({ settle, subscribe: () => [] })
  for (const expected of [1, 2, 3, 3]) {
    await turn()
    assert.equal(runs, expected)
    t.mock.timers.tick(SECOND_MS)
  }
  await settler.stop()
})

test('a settler that is stopped during a run does not begin another one', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  let runs = 0
  const settler = startSettler({
    settle: async (signal) => {
      runs += 1
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return 'soon'
    },
    subscribe: () => [],
  })
  await settler.stop()
  t.mock.timers.tick(MINUTE_MS)
  await turn()
  assert.equal(runs, 1)
})
