import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { openConnection } from '../../../src/store/connection.ts'
import { createThread } from '../../../src/store/read/thread.ts'
import {
  type CheckpointLimits,
  createLogUse,
  startCheckpoints,
} from '../../../src/store/write/checkpoints.ts'
import { PATIENCE_MS } from '../../patience.ts'
import { makeDatabaseFolder, recordingLog } from '../test-store.ts'

const limits: CheckpointLimits = {
  ...{ intervalMs: 10, smallBytes: 100_000, maxLogBytes: 400_000, maxKeptBytes: 600_000 },
}
const insert = 'insert into t values (?)'

async function setUp(t: Parameters<typeof makeDatabaseFolder>[0]) {
  const { path } = await makeDatabaseFolder(t)
  const connection = openConnection({ path, busyTimeoutMs: 5000 })
  connection.script('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; create table t (x)')
  const walBytes = () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const thread = createThread({ path, nativeBinding: undefined })
  const entries: unknown[][] = []
  const log = recordingLog(entries)
  const usedBytes = createLogUse(connection, walBytes)
  const deps = { thread, walBytes, usedBytes, areFilesLost: () => false, log }
  const checkpoints = startCheckpoints(deps, limits)
  t.after(async () => {
    await checkpoints.stop()
    connection.close()
    assert.deepEqual(entries, [])
  })
  const write = (bytes: number) => {
    connection.run(insert, [Buffer.alloc(bytes)], 'run')
    checkpoints.committed()
  }
  return { connection, write, walBytes, usedBytes, thread }
}

async function until(isTrue: () => boolean): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS
  while (!isTrue()) {
    assert.ok(performance.now() < endsAt, 'waited for nothing')
    await delay(5)
  }
}

test('a small log needs no checkpoint and no thread', async (t) => {
  const { write, walBytes, thread } = await setUp(t)
  write(10_000)
  await delay(40)
  assert.ok(walBytes() > 0)
  assert.equal(thread.isStarted(), false)
})

test('a large log starts over once there are no writes, in the file that it has', async (t) => {
  const { write, walBytes, usedBytes } = await setUp(t)
  write(200_000)
  const bytes = walBytes()
  assert.ok(usedBytes() > limits.smallBytes)
  await until(() => usedBytes() === 0)
  write(50_000)
  assert.equal(walBytes(), bytes)
  assert.ok(usedBytes() > 0 && usedBytes() < limits.smallBytes, `${usedBytes()}`)
})

test('a log whose file became very large is emptied once there are no writes', async (t) => {
  const { write, walBytes } = await setUp(t)
  write(800_000)
  assert.ok(walBytes() > limits.maxKeptBytes)
  await until(() => walBytes() === 0)
})

test('a log that has started over needs no checkpoint until it is large again', async (t) => {
  const { write, usedBytes, thread } = await setUp(t)
  write(200_000)
  await until(() => usedBytes() === 0)
  const ask = t.mock.method(thread, 'ask')
  write(10_000)
  await delay(40)
  assert.equal(ask.mock.callCount(), 0)
})

test('within a transaction the whole file counts as used', async (t) => {
  const { connection, write, walBytes, usedBytes } = await setUp(t)
  write(10_000)
  assert.ok(usedBytes() < walBytes())
  connection.script('BEGIN IMMEDIATE')
  assert.equal(usedBytes(), walBytes())
  connection.script('ROLLBACK')
})

test('under constant load the log starts over, again and again', async (t) => {
  const { write, walBytes } = await setUp(t)
  let written = 0
  let largest = 0
  // However late its thread begins: a log that never starts over is as large as what was written.
  while (written < 5 * limits.maxLogBytes || largest >= written / 2) {
    assert.ok(written < 500 * limits.maxLogBytes, `${largest} of ${written}`)
    write(20_000)
    written += 20_000
    largest = Math.max(largest, walBytes())
    // On a busy machine the thread needs its time.
    await (written < 25 * limits.maxLogBytes ? turn() : delay(1))
  }
})
