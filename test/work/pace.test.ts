import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBatchPace, withRest } from '../../src/work/pace.ts'

/** A batch of so many milliseconds, by a clock of its own. */
function batchOf(ms: number) {
  let at = 0
  const act = async () => {
    at += ms
    return 'done'
  }
  return { act, clock: () => at }
}

/** Resolves after the callbacks of resolved promises have run. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('a pause follows each batch, a multiple of its duration', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { act, clock } = batchOf(40)
  let result: string | undefined
  void withRest(act, { times: 0.25, clock }).then((value) => {
    result = value
  })
  await settle()
  t.mock.timers.tick(9)
  await settle()
  assert.equal(result, undefined)
  t.mock.timers.tick(1)
  await settle()
  assert.equal(result, 'done')
})

test('no pause is longer than a second, and a signal ends it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const ended: string[] = []
  const stopping = new AbortController()
  const begin = (name: string, signal?: AbortSignal) => {
    const { act, clock } = batchOf(60_000)
    void withRest(act, { times: 2, clock, signal }).then(() => ended.push(name))
  }
  begin('long')
  begin('stopped', stopping.signal)
  await settle()
  assert.deepEqual(ended, [])
  stopping.abort()
  begin('too late to rest', stopping.signal)
  await settle()
  assert.deepEqual(ended, ['stopped', 'too late to rest'])
  t.mock.timers.tick(1000)
  await settle()
  assert.equal(ended.at(-1), 'long')
})

test('batches at most double while they are quick, and shrink when they are slow', async () => {
  const clock = { at: 0 }
  const pace = createBatchPace({ first: 10, max: 60, batchMs: 10, clock: () => clock.at })
  const sizes: number[] = []
  for (const msPerRow of [0, 0.1, 0.1, 1, 1, 50, 0.2]) {
    const rows = pace.size()
    sizes.push(rows)
    await pace.measure(rows, async () => {
      clock.at += rows * msPerRow
    })
  }
  assert.deepEqual([...sizes, pace.size()], [10, 20, 40, 60, 10, 10, 1, 2])
})

test('a batch has at least `min` rows, however slow it is', async () => {
  const clock = { at: 0 }
  const rules = { first: 500, min: 100, max: 1500, batchMs: 10, clock: () => clock.at }
  const pace = createBatchPace(rules)
  await pace.measure(pace.size(), async () => {
    clock.at += 10_000
  })
  assert.equal(pace.size(), 100)
})
