import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSharedRuns } from '../../src/work/shared-runs.ts'

test('callers during a run wait for the next run and share it', async () => {
  const sharedRuns = createSharedRuns()
  const gates = [0, 1, 2].map(() => Promise.withResolvers<void>())
  const begun: number[] = []
  const act = async () => {
    const run = begun.push(begun.length) - 1
    await gates[run]?.promise
    return run
  }
  const first = sharedRuns.take('a', act)
  const waiting = [sharedRuns.take('a', act), sharedRuns.take('a', act)]
  assert.deepEqual(begun, [0])
  gates[0]?.resolve()
  assert.equal(await first, 0)
  gates[1]?.resolve()
  assert.deepEqual(await Promise.all(waiting), [1, 1])
  gates[2]?.resolve()
  assert.equal(await sharedRuns.take('a', act), 2)
  assert.deepEqual(begun, [0, 1, 2])
})

test('callers with another name do not wait', async () => {
  const sharedRuns = createSharedRuns()
  const gate = Promise.withResolvers<string>()
  const held = sharedRuns.take('a', () => gate.promise)
  assert.equal(await sharedRuns.take('b', async () => 'at once'), 'at once')
  gate.resolve('later')
  assert.equal(await held, 'later')
})

test('a run that fails rejects its own callers only, and the next one runs', async () => {
  const sharedRuns = createSharedRuns()
  const gate = Promise.withResolvers<void>()
  const fail = async () => {
    await gate.promise
    throw new Error('no')
  }
  const failing = sharedRuns.take('a', fail)
  const next = sharedRuns.take('a', async () => 'well')
  gate.resolve()
  await assert.rejects(failing, /no/)
  assert.equal(await next, 'well')
  await assert.rejects(
    sharedRuns.take('a', async () => Promise.reject(new Error('again'))),
    /again/,
  )
  assert.equal(await sharedRuns.take('a', async () => 'free'), 'free')
})
