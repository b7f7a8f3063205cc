import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openConnection } from '../../../src/store/connection.ts'
import { asc } from '../../../src/store/drizzle.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Tx } from '../../../src/store/write/transaction.ts'
import { notes, openTestStore, stopClock } from '../test-store.ts'

function add(tx: Tx, id: string) {
  return tx.insert(notes).values({ id, seq: 0 })
}

async function writeAndFail(tx: Tx): Promise<never> {
  await add(tx, 'failed')
  throw new Error('as planned')
}

async function ids(store: Store): Promise<string[]> {
  const rows = await store.read.select({ id: notes.id }).from(notes).orderBy(asc(notes.id))
  return rows.map(({ id }) => id)
}

/** A closure that adds `id` and remembers its runs. */
function counted(store: Store, id: string) {
  const runs: Tx[] = []
  const committed: number[] = []
  const result = store.write(async (tx) => {
    const run = runs.push(tx)
    tx.afterCommit(() => committed.push(run))
    await add(tx, id)
    return run
  })
  return { runs, committed, result }
}

test('closures before one that wrote and failed run again, and only the second run counts', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const before = counted(store, 'a')
  const failing = assert.rejects(store.write(writeAndFail), /as planned/)
  const after = counted(store, 'b')
  await failing
  assert.deepEqual([await before.result, await after.result], [2, 1])
  assert.deepEqual([before.committed, after.committed], [[2], [1]])
  assert.deepEqual(await ids(store), ['a', 'b'])
})

test('a closure that fails before it writes makes no other run again', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const before = counted(store, 'a')
  const failing = store.write(async (tx) => {
    throw new RangeError(`${await tx.$count(notes)} notes`)
  })
  await assert.rejects(failing, /^RangeError: 1 notes$/)
  assert.equal(await before.result, 1)
})

test('no closure runs a third time, however many fail', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const all: ReturnType<typeof counted>[] = []
  for (const id of 'abcdefgh') {
    all.push(counted(store, id))
    store.write(writeAndFail).catch(assertPlanned)
  }
  const runs = await Promise.all(all.map(({ result }) => result))
  assert.ok(Math.max(...runs) <= 2, `${runs}`)
  assert.deepEqual(await ids(store), [...'abcdefgh'])
})

test('a closure that fails in its second run is undone alone', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const first = counted(store, 'a')
  let runs = 0
  const changing = store.write(async (tx) => {
    runs += 1
    await add(tx, 'b')
    if (runs === 2) throw new RangeError('second run')
  })
  const changed = assert.rejects(changing, /second run/)
  const failed = assert.rejects(store.write(writeAndFail), /as planned/)
  const last = counted(store, 'c')
  await Promise.all([changed, failed])
  assert.deepEqual([await first.result, await last.result, runs], [2, 1, 2])
  assert.deepEqual(await ids(store), ['a', 'c'])
})

test('the handle of the first run cannot be used any more', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const { runs, result } = counted(store, 'a')
  await assert.rejects(store.write(writeAndFail))
  await result
  assert.equal(runs.length, 2)
  const [first] = runs
  assert.throws(() => first?.afterCommit(() => undefined), TypeError)
  await assert.rejects(async () => first && add(first, 'b'), TypeError)
})

test('the second run waits for another process that took the lock', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const other = openConnection({ path: store.location.path, busyTimeoutMs: 0 })
  const { result } = counted(store, 'a')
  await assert.rejects(store.write(writeAndFail))
  other.script("BEGIN IMMEDIATE; INSERT INTO notes (id, seq) VALUES ('other', 0)")
  await delay(5)
  assert.deepEqual(await ids(store), [])
  other.script('COMMIT')
  assert.equal(await result, 2)
  other.close()
  assert.deepEqual(await ids(store), ['a', 'other'])
})

test('close waits for the second run', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const { result } = counted(store, 'a')
  store.write(writeAndFail).catch(assertPlanned)
  await store.close()
  assert.equal(await result, 2)
})

function assertPlanned(error: unknown): void {
  assert.ok(error instanceof Error && error.message === 'as planned')
}
