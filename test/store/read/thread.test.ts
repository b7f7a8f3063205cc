import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { AppError } from '../../../src/base/errors.ts'
import { createThread } from '../../../src/store/read/thread.ts'
import type { ScanQuery } from '../../../src/store/read/thread-messages.ts'
import { startThread } from '../../../src/threads/start.ts'
import { makeDatabaseFolder } from '../test-store.ts'

const query: ScanQuery = { kind: 'query', text: '', params: [], shape: 'rows' }

test('a thread starts with its first request and ends when it is stopped', async (t) => {
  const { path: file } = await makeDatabaseFolder(t)
  const thread = createThread({ path: file, nativeBinding: undefined })
  assert.equal(thread.isStarted(), false)
  await assert.rejects(thread.ask({ ...query, text: 'select 1' }), (error) => {
    assert.ok(error instanceof AppError && error.code === 'DATABASE_ERROR')
    return error.message === 'The database cannot be used at the moment.'
  })
  assert.equal(thread.isStarted(), true)
  await thread.stop()
  assert.equal(thread.isStarted(), false)
  const late = thread.ask({ ...query, text: 'select 1' })
  await assert.rejects(late, (error) => error instanceof AppError)
})

test('a thread ends after 15 s without requests, and the next request starts another', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { path: file } = await makeDatabaseFolder(t)
  new Database(file).close()
  let started = 0
  const workers: Worker[] = []
  const thread = createThread({ path: file, nativeBinding: undefined }, () => {
    started += 1
    const worker = startThread('scan', { workerData: { path: file } })
    workers.push(worker)
    return worker
  })
  const ask = () => thread.ask({ ...query, text: 'select 1' })
  assert.deepEqual(await ask(), [[1]])
  t.mock.timers.tick(14_999)
  assert.deepEqual(await ask(), [[1]])
  t.mock.timers.tick(14_999)
  assert.equal(thread.isStarted(), true)
  const exited = once(workers[0] as Worker, 'exit')
  t.mock.timers.tick(1)
  assert.equal(thread.isStarted(), false)
  await exited
  const asked = ask()
  t.mock.timers.tick(120_000)
  assert.deepEqual(await asked, [[1]], 'a thread with a request does not end')
  assert.equal(started, 2)
  await thread.stop()
})

test('a thread without requests stops at once', async () => {
  const thread = createThread({ path: '', nativeBinding: undefined })
  await thread.stop()
  assert.equal(thread.isStarted(), false)
})

test('a request to a thread that ends gets DATABASE_ERROR, and the next request a new thread', async () => {
  let started = 0
  const thread = createThread({ path: '', nativeBinding: undefined }, () => {
    started += 1
    const code = "require('node:worker_threads').parentPort.on('message', () => process.exit(1))"
    return new Worker(code, { eval: true })
  })
  for (const expected of [1, 2]) {
    const asked = [thread.ask({ ...query, text: 'a' }), thread.ask({ ...query, text: 'b' })]
    for (const { status } of await Promise.allSettled(asked)) assert.equal(status, 'rejected')
    assert.equal(started, expected)
    assert.equal(thread.pending(), 0)
  }
})

test('a request that cannot be sent fails alone', async (t) => {
  const { path: file } = await makeDatabaseFolder(t)
  const thread = createThread({ path: file, nativeBinding: undefined })
  await assert.rejects(thread.ask({ ...query, text: 'select ?', params: [() => 1] }), {
    name: 'DataCloneError',
  })
  assert.equal(thread.pending(), 0)
  await thread.stop()
})
