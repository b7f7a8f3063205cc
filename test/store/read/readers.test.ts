import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { AppError } from '../../../src/base/errors.ts'
import { createReaders, MAX_WAITING_SCANS, type Readers } from '../../../src/store/read/readers.ts'
import { createThread, type StoreThread } from '../../../src/store/read/thread.ts'
import { goOn, runFor } from '../../../src/turns/owner.ts'
import { fakeClient } from '../../turns/fake-client.ts'

type Asked = { text: string; thread: number; end: PromiseWithResolvers<unknown> }

/** Readers whose threads answer when they are told to. */
function makeReaders(threadCount: number) {
  const asked: Asked[] = []
  const stopped: number[] = []
  const threads = Array.from({ length: threadCount }, (_, thread) => ({
    ask(request: Parameters<StoreThread['ask']>[0]) {
      assert.ok(request.kind === 'query')
      const end = Promise.withResolvers<unknown>()
      asked.push({ text: request.text, thread, end })
      return end.promise
    },
    async stop() {
      stopped.push(thread)
    },
  }))
  const readers = createReaders({ path: 'a.db', nativeBinding: undefined }, threads)
  const texts = () => asked.map(({ text }) => text)
  /** Ends the scan; the next scan has begun when this resolves. */
  async function end(text: string, error?: Error): Promise<void> {
    const found = asked.find((each) => each.text === text)
    assert.ok(found, `${text} runs`)
    if (error) found.end.reject(error)
    else found.end.resolve(`${text} done`)
    await new Promise(setImmediate)
  }
  /** Ends the running scans one by one until none waits; returns all in the order of their starts. */
  async function endAll(): Promise<string[]> {
    for (let index = 0; index < asked.length; index += 1) await end(texts()[index] as string)
    return texts()
  }
  return { readers, asked, stopped, texts, end, endAll }
}

function scan(readers: Readers, text: string): Promise<unknown> {
  return readers.run(text, [], 'rows') as Promise<unknown>
}

/** A scan of a request of its own. */
function ask(readers: Readers, key: string, text: string): Promise<unknown> {
  return runFor({ key, isJob: false }, () => scan(readers, text))
}

function askAsJob(readers: Readers, key: string, text: string): Promise<unknown> {
  return runFor({ key, isJob: true }, () => scan(readers, text))
}

function hasCode(code: string) {
  return (error: unknown) => error instanceof AppError && error.code === code
}

test('a thread runs one scan at a time, and the others wait in order', async () => {
  const { readers, asked, texts, end } = makeReaders(2)
  const results = ['1', '2', '3', '4'].map((text) => scan(readers, text))
  assert.deepEqual(texts(), ['1', '2'])
  assert.equal(new Set(asked.map(({ thread }) => thread)).size, 2)
  await end('2')
  assert.deepEqual(texts(), ['1', '2', '3'])
  assert.equal(asked[2]?.thread, asked[1]?.thread)
  for (const text of ['1', '3', '4']) await end(text)
  assert.deepEqual(await Promise.all(results), ['1 done', '2 done', '3 done', '4 done'])
})

test('a second thread is used only while the first is busy', async () => {
  const { readers, asked, endAll } = makeReaders(2)
  for (const text of ['1', '2', '3']) {
    const result = scan(readers, text)
    await endAll()
    await result
  }
  assert.equal(new Set(asked.map(({ thread }) => thread)).size, 1)
})

test('projects are served in turn: a flood of one delays mostly itself', async () => {
  const { readers, endAll } = makeReaders(1)
  for (let index = 1; index <= 6; index += 1) ask(readers, 'a', `a${index}`)
  ask(readers, 'b', 'b1')
  ask(readers, 'b', 'b2')
  ask(readers, 'c', 'c1')
  scan(readers, 'system')
  const order = ['a1', 'a2', 'b1', 'c1', 'system', 'a3', 'b2', 'a4', 'a5', 'a6']
  assert.deepEqual(await endAll(), order)
})

test('a project that scans again at once waits behind the others', async () => {
  const { readers, end, texts } = makeReaders(1)
  const walk = runFor({ key: 'a', isJob: false }, async () => {
    for (const text of ['a1', 'a2']) await scan(readers, text)
  })
  ask(readers, 'b', 'b1')
  ask(readers, 'c', 'c1')
  for (const text of ['a1', 'b1', 'c1', 'a2']) await end(text)
  await walk
  assert.deepEqual(texts(), ['a1', 'b1', 'c1', 'a2'])
})

test('jobs never occupy the last thread', async () => {
  const { readers, texts, end } = makeReaders(2)
  for (const text of ['job1', 'job2']) askAsJob(readers, text, text)
  assert.deepEqual(texts(), ['job1'])
  ask(readers, 'a', 'a1')
  assert.deepEqual(texts(), ['job1', 'a1'])
  await end('a1')
  assert.deepEqual(texts(), ['job1', 'a1'])
  await end('job1')
  assert.deepEqual(texts(), ['job1', 'a1', 'job2'])
})

test('jobs wait behind requests, but not forever', async () => {
  const { readers, endAll } = makeReaders(1)
  ask(readers, 'a', 'a1')
  for (const key of ['x', 'x', 'y']) askAsJob(readers, key, `job of ${key}`)
  for (let index = 2; index <= 10; index += 1) ask(readers, 'a', `a${index}`)
  const order = await endAll()
  assert.deepEqual(order.slice(0, 6), ['a1', 'a2', 'a3', 'a4', 'a5', 'job of x'])
  assert.deepEqual(order.slice(6, 11), ['a6', 'a7', 'a8', 'a9', 'job of y'])
  assert.deepEqual(order.slice(11), ['a10', 'job of x'])
})

test('a request beyond the limit of waiting scans is refused, but no other project, job or command', async () => {
  const { readers, texts, endAll } = makeReaders(1)
  const kept = Array.from({ length: MAX_WAITING_SCANS + 1 }, (_, index) =>
    ask(readers, 'a', `a${index}`),
  )
  await assert.rejects(ask(readers, 'a', 'refused'), (error) => {
    assert.ok(error instanceof AppError && error.code === 'RATE_LIMIT_EXCEEDED')
    return error.status === 429 && error.details?.retryAfter === 5
  })
  const others = [ask(readers, 'b', 'b'), askAsJob(readers, 'a', 'job'), scan(readers, 'system')]
  await endAll()
  await Promise.all([...kept, ...others])
  assert.equal(texts().includes('refused'), false)
  const later = ask(readers, 'a', 'later')
  await endAll()
  assert.equal(await later, 'later done')
})

test('a request whose first scan was admitted is not refused later', async () => {
  const { readers, endAll, end } = makeReaders(1)
  const begun = runFor({ key: 'a', isJob: false }, async () => {
    await scan(readers, 'first')
    return scan(readers, 'second')
  })
  const flood = Array.from({ length: MAX_WAITING_SCANS + 1 }, (_, index) =>
    ask(readers, 'a', `a${index}`),
  )
  const isRefused = assert.rejects(flood.at(-1) as Promise<unknown>, hasCode('RATE_LIMIT_EXCEEDED'))
  await end('first')
  await isRefused
  await endAll()
  assert.equal(await begun, 'second done')
})

test('S29: a request that has changed something is not refused', async () => {
  const { readers, endAll } = makeReaders(1)
  const flood = Array.from({ length: MAX_WAITING_SCANS + 1 }, (_, index) =>
    ask(readers, 'a', `a${index}`),
  )
  await assert.rejects(ask(readers, 'a', 'refused'), hasCode('RATE_LIMIT_EXCEEDED'))
  const changed = runFor({ key: 'a', isJob: false }, () => {
    goOn()
    return scan(readers, 'its result')
  })
  await endAll()
  assert.equal(await changed, 'its result done')
  await Promise.all(flood)
})

test('jobs and the system are never refused', async () => {
  const { readers, endAll } = makeReaders(1)
  const many = Array.from({ length: MAX_WAITING_SCANS + 10 }, (_, index) => [
    askAsJob(readers, 'a', `job ${index}`),
    scan(readers, `system ${index}`),
  ])
  await endAll()
  await Promise.all(many.flat())
})

test('a failed scan affects no other, and its thread goes on', async () => {
  const { readers, texts, end } = makeReaders(1)
  const failing = assert.rejects(ask(readers, 'a', 'bad'), { message: 'no such table' })
  const next = ask(readers, 'a', 'good')
  await end('bad', new Error('no such table'))
  await failing
  assert.deepEqual(texts(), ['bad', 'good'])
  await end('good')
  assert.equal(await next, 'good done')
})

const mortal = `const { parentPort } = require('node:worker_threads')
parentPort.on('message', (request) => {
  if (request === null) parentPort.close()
  else if (request.text === 'die') process.exit(1)
  else parentPort.postMessage({ id: request.id, result: request.text })
})`

test('when a thread ends, its scan fails and another thread runs the others', async (t) => {
  let started = 0
  const settings = { path: 'a.db', nativeBinding: undefined }
  const thread = createThread(settings, () => {
    started += 1
    return new Worker(mortal, { eval: true })
  })
  const readers = createReaders(settings, [thread])
  t.after(() => readers.stop())
  const endedScan = assert.rejects(ask(readers, 'a', 'die'), hasCode('DATABASE_ERROR'))
  const others = [ask(readers, 'a', 'a2'), ask(readers, 'b', 'b1')]
  await endedScan
  assert.deepEqual(await Promise.all(others), ['a2', 'b1'])
  assert.equal(started, 2)
})

test('stop finishes running scans and refuses waiting and later ones', async () => {
  const { readers, stopped, texts, end } = makeReaders(2)
  const running = [ask(readers, 'a', 'a1'), ask(readers, 'a', 'a2')]
  const refused = [ask(readers, 'a', 'a3'), askAsJob(readers, 'b', 'job'), scan(readers, 'system')]
  const all = refused.map((each) => assert.rejects(each, hasCode('DATABASE_ERROR')))
  await readers.stop()
  await assert.rejects(ask(readers, 'c', 'late'), hasCode('DATABASE_ERROR'))
  await Promise.all(all)
  for (const text of ['a1', 'a2']) await end(text)
  assert.deepEqual(await Promise.all(running), ['a1 done', 'a2 done'])
  assert.deepEqual(texts(), ['a1', 'a2'])
  assert.deepEqual(stopped.toSorted(), [0, 1])
})

test('a scan whose client has left is not run, and takes no room in the line', async () => {
  const { readers, texts, end, endAll } = makeReaders(1)
  const clients = Array.from({ length: MAX_WAITING_SCANS }, () => fakeClient())
  const running = ask(readers, 'a', 'running')
  const waiting = clients.map((client, index) =>
    runFor({ key: 'a', isJob: false, client }, () => scan(readers, `a${index}`)),
  )
  const left = waiting.slice(1).map((each) => assert.rejects(each, hasCode('REQUEST_TIMEOUT')))
  for (const client of clients.slice(1)) client.leave()
  const next = ask(readers, 'a', 'next')
  await end('running')
  assert.deepEqual(await endAll(), ['running', 'a0', 'next'])
  await Promise.all([running, waiting[0], next, ...left])
  assert.deepEqual(texts(), ['running', 'a0', 'next'])
})
