import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createThreadPool, type PoolOptions } from '../../src/threads/pool.ts'

const obedient = `
const { parentPort } = require('node:worker_threads')
parentPort.postMessage('ready')
parentPort.on('message', (text) => {
  if (text === 'crash') throw new Error('crashed')
  parentPort.postMessage(text)
})`

type State = { ended: PromiseWithResolvers<unknown>; replied: PromiseWithResolvers<string> }

function open(t: TestContext, code: string, options: Partial<PoolOptions<State, string>> = {}) {
  const pool = createThreadPool<State, string>({
    maxThreads: 2,
    launch: () => ({
      worker: new Worker(code, { eval: true }),
      state: { ended: Promise.withResolvers(), replied: Promise.withResolvers() },
    }),
    received: ({ state }, message) => message !== 'ready' && state.replied.resolve(message),
    ended: ({ state }, error) => state.ended.resolve(error),
    ...options,
  })
  t.after(() => pool.stop())
  return pool
}

test('threads start up to the limit, and reply', async (t) => {
  const pool = open(t, obedient)
  const [first, second] = [pool.start(), pool.start()]
  assert.equal(pool.start(), undefined)
  second?.worker.postMessage('hello')
  assert.equal(await second?.state.replied.promise, 'hello')
  assert.notEqual(first?.number, second?.number)
})

test('a thread that crashes leaves the pool with its error, and is replaced', async (t) => {
  const pool = open(t, obedient, { maxThreads: 1 })
  const thread = pool.start()
  thread?.worker.postMessage('crash')
  const error = await thread?.state.ended.promise
  assert.match(String(error), /crashed/)
  assert.equal(thread?.hasStarted, true)
  assert.deepEqual(pool.list(), [])
  assert.notEqual(pool.start(), undefined)
})

test('after threads that failed to start, no thread starts for a while', async (t) => {
  const failures: number[] = []
  const pauseMs = (failedStarts: number) => {
    failures.push(failedStarts)
    return failedStarts < 2 ? 0 : 60_000
  }
  const pool = open(t, 'throw new Error("no")', { pauseMs })
  for (const count of [1, 2]) {
    const thread = pool.start()
    await thread?.state.ended.promise
    assert.deepEqual([thread?.hasStarted, failures.length], [false, count])
  }
  assert.equal(pool.start(), undefined)
})

test('a thread that was launched before a pause does not end it', async (t) => {
  const pauseMs = (failedStarts: number) => (failedStarts % 3 === 0 ? 60_000 : 0)
  const pool = open(t, 'throw new Error("no")', { maxThreads: 4, pauseMs })
  const launched = [1, 2, 3, 4].map(() => pool.start())
  await Promise.all(launched.map((thread) => thread?.state.ended.promise))
  assert.equal(pool.start(), undefined)
})

test('a thread that should end is terminated without an error', async (t) => {
  const watch = { everyMs: () => 5, shouldEnd: () => true }
  const pool = open(t, 'for (;;);', { watch })
  assert.equal(await pool.start()?.state.ended.promise, undefined)
})

test('endAll ends the threads without calling ended, and stop waits for them', async (t) => {
  let ended = 0
  const pool = open(t, obedient, {
    ended() {
      ended += 1
    },
  })
  const thread = pool.start()
  pool.endAll()
  assert.deepEqual(pool.list(), [])
  await pool.stop()
  assert.equal(ended, 0)
  assert.equal(thread?.worker.threadId, -1)
  assert.equal(pool.start(), undefined)
})

test('a thread that takes a while to end is terminated once', async (t) => {
  let checks = 0
  let terminations = 0
  let terminate: () => unknown = () => undefined
  const shouldEnd = () => {
    checks += 1
    if (checks === 5) terminate()
    return true
  }
  const pool = open(t, obedient, { watch: { everyMs: () => 1, shouldEnd } })
  const thread = pool.start()
  assert.ok(thread)
  terminate = thread.worker.terminate.bind(thread.worker)
  thread.worker.terminate = async () => ++terminations
  await thread.state.ended.promise
  assert.equal(terminations, 1)
})
