import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { AppError } from '../../src/base/errors.ts'
import { silentLog } from '../../src/base/log.ts'
import type { SmtpRefusal } from '../../src/inbound/refusal.ts'
import {
  createSubmissionReader,
  type SubmissionReaderOptions,
} from '../../src/inbound/submission-reader.ts'
import { runFor } from '../../src/turns/owner.ts'
import { leapingClock } from './leaping-clock.ts'

/** Behaves as the message says instead of reading it. */
const obedient = `
const { parentPort } = require('node:worker_threads')
parentPort.postMessage('ready')
parentPort.on('message', (parts) => {
  const text = Buffer.concat(parts).toString()
  if (text === 'hang') for (;;);
  const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  // As on a machine whose processors are busy: the thread does not run.
  if (text === 'starve') wait(1_000)
  if (text === 'stuck') wait(Infinity)
  if (text === 'crash') throw new Error('crashed')
  if (text === 'fill') { const all = []; for (;;) all.push('x'.repeat(1000) + all.length) }
  parentPort.postMessage({ submitted: { subject: text } })
})`

function openReader(t: TestContext, options: Partial<SubmissionReaderOptions> = {}) {
  let started = 0
  const reader = createSubmissionReader({
    limits: { attachmentsMaxCount: 10, attachmentsMaxBytes: 1000 },
    log: silentLog(),
    start: () => {
      started += 1
      const resourceLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 }
      return new Worker(obedient, { eval: true, resourceLimits })
    },
    ...options,
  })
  t.after(() => reader.stop())
  const read = async (text: string) => (await reader.read([Buffer.from(text)])).subject
  return { read, stop: reader.stop, started: () => started }
}

test('a thread that hangs or ends loses its own message and no other', async (t) => {
  const { read, started } = openReader(t, { maxThreads: 1, timeoutMs: 1_000 })
  const bad = ['hang', 'crash', 'fill'].flatMap((text) => [
    assert.rejects(read(text), { responseCode: 554 }, text),
    read(`after ${text}`),
  ])
  const results = await Promise.all(bad)
  assert.deepEqual(
    results.filter((one) => one !== undefined),
    ['after hang', 'after crash', 'after fill'],
  )
  assert.equal(started(), 4)
})

test('a message whose thread gets no processor for long is read, and one that never ends is refused', async (t) => {
  const patient = openReader(t, { timeoutMs: 50, maxClockMs: 60_000 })
  assert.equal(await patient.read('starve'), 'starve')
  const clock = leapingClock(t)
  await assert.rejects(patient.read('stuck'), { responseCode: 554 })
  clock.end()
  assert.equal(await patient.read('fine'), 'fine')
})

test('threads start when they are needed, up to their limit', async (t) => {
  const { read, started } = openReader(t, { maxThreads: 2 })
  assert.equal(started(), 0)
  await read('one')
  assert.equal(started(), 1)
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(read))
  assert.equal(started(), 2)
})

test('threads end after half a minute without messages, with the memory of large ones', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const { read, started } = openReader(t, { maxThreads: 1 })
  await read('one')
  t.mock.timers.tick(29_999)
  await read('two')
  t.mock.timers.tick(29_999)
  await read('three')
  assert.equal(started(), 1)
  t.mock.timers.tick(30_000)
  const four = read('four')
  t.mock.timers.tick(29_999)
  assert.equal(await four, 'four')
  assert.equal(started(), 2)
})

test('S31: messages of one project that take long leave a thread to another project', async (t) => {
  const { read, started } = openReader(t, { timeoutMs: 60_000 })
  const readFor = (key: string, text: string) => runFor({ key, isJob: false }, () => read(text))
  const ended: string[] = []
  const stuck = Array.from({ length: 20 }, () => readFor('a', 'stuck').catch(() => ended.push('a')))
  for (const text of ['one', 'two']) assert.equal(await readFor('b', text), text)
  assert.deepEqual([ended, started()], [[], 3])
  void Promise.all(stuck)
})

test('S31: a project with 250 messages that wait is told to come back', async (t) => {
  const { read, stop } = openReader(t, { timeoutMs: 60_000 })
  const outcomes = Array.from({ length: 253 }, () =>
    runFor({ key: 'a', isJob: false }, () => read('stuck')).catch((error: unknown) => error),
  )
  const refused = (await outcomes[252]) as AppError
  assert.deepEqual([refused.code, refused.smtp], ['RATE_LIMIT_EXCEEDED', '451 4.7.1'])
  await stop()
  const others = (await Promise.all(outcomes.slice(0, 252))) as SmtpRefusal[]
  assert.deepEqual([...new Set(others.map(({ responseCode }) => responseCode))], [451])
})

test('if no thread starts, the message does not count as faulty', async (t) => {
  const start = () => new Worker('throw new Error("no")', { eval: true })
  const { read } = openReader(t, { start })
  await assert.rejects(read('x'), { message: 'no thread starts' })
  const stuck = () => new Worker('for (;;);', { eval: true })
  const slow = openReader(t, { start: stuck, timeoutMs: 0, startTimeoutMs: 20 })
  await assert.rejects(slow.read('x'), { message: 'no thread starts' })
})

test('a stop defers the messages that are not parsed yet', async (t) => {
  const { read, stop } = openReader(t, { maxThreads: 1 })
  const inHand = assert.rejects(read('hang'), { responseCode: 451 })
  const waiting = assert.rejects(read('x'), { responseCode: 451 })
  await stop()
  await Promise.all([inHand, waiting, assert.rejects(read('late'), { responseCode: 451 })])
})
