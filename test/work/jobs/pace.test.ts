import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withRest } from '../../../src/work/jobs/pace.ts'

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
