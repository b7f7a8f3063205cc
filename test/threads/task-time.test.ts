import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { startTaskTime } from '../../src/threads/task-time.ts'
import { eventually } from '../e2e/program.ts'

async function run(t: TestContext, code: string): Promise<Worker> {
  const worker = new Worker(`require('node:worker_threads').parentPort.postMessage(1);${code}`, {
    eval: true,
  })
  t.after(() => worker.terminate())
  await once(worker, 'message')
  return worker
}

test('a thread that works is over its limit of processor time', async (t) => {
  const isOver = startTaskTime(await run(t, 'for (;;);'), { limitMs: 50, maxClockMs: 1e9 })
  await eventually(async () => (await isOver()) || undefined)
})

test('a thread that gets no processor has longer, and not forever', async (t) => {
  // What a busy machine does to a thread: its clock goes on, its processor time does not.
  let clock = 0
  t.mock.method(performance, 'now', () => clock)
  const worker = { cpuUsage: async () => ({ user: 20_000, system: 0 }) } as unknown as Worker
  const isOver = startTaskTime(worker, { limitMs: 100 })
  for (clock of [0, 101, 1_200]) assert.equal(await isOver(), false, String(clock))
  clock = 1_201
  assert.equal(await isOver(), true)
})

test('a thread that cannot be asked is over by the clock', async (t) => {
  let clock = 0
  t.mock.method(performance, 'now', () => clock)
  const stuck = { cpuUsage: () => new Promise(() => undefined) } as unknown as Worker
  const ended = { cpuUsage: () => Promise.reject(new Error('ended')) } as unknown as Worker
  const ends = [stuck, ended].map((worker) => startTaskTime(worker, { limitMs: 100 }))
  clock = 150
  assert.equal(await ends[1]?.(), false)
  clock = 1_201
  for (const isOver of ends) assert.equal(await isOver(), true)
})
