import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { AppError } from '../../src/base/errors.ts'
import { silentLog } from '../../src/base/log.ts'
import { asc, eq, gt, sql } from '../../src/store/drizzle.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { runFor } from '../../src/turns/owner.ts'
import { fakeClient } from '../turns/fake-client.ts'
import { notes, openTestStore, recordingLog } from './test-store.ts'

async function fill(store: Store, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, seq) => ({ id: `${seq}`, seq }))
  await store.write((tx) => tx.insert(notes).values(rows))
}

/** Rows enough to keep a thread busy, from one table of ten. */
const slowCount = sql`select count(*) as total from notes a, notes b, notes c, notes d, notes e, notes f`

test('a scan on another thread sees earlier writes', async (t) => {
  const store = await openTestStore(t)
  await fill(store, 10)
  let isDone = false
  const scan = store.scan.get<{ total: number }>(slowCount).then((row) => {
    isDone = true
    return row
  })
  await store.write((tx) => tx.update(notes).set({ isDone: true }).where(eq(notes.seq, 1)))
  assert.equal(isDone, false)
  assert.deepEqual(await scan, { total: 1_000_000 })
  const rows = await store.scan.select().from(notes).where(eq(notes.seq, 1))
  assert.deepEqual(rows, [{ id: '1', seq: 1, body: '', isDone: true, data: null }])
})

test('each page of a scan has a snapshot of its own', async (t) => {
  const store = await openTestStore(t)
  await fill(store, 4)
  const page = (after: number) =>
    store.scan
      .select({ seq: notes.seq })
      .from(notes)
      .where(gt(notes.seq, after))
      .orderBy(asc(notes.seq))
      .limit(2)
  assert.deepEqual(await page(-1), [{ seq: 0 }, { seq: 1 }])
  await store.write((tx) => tx.delete(notes).where(eq(notes.seq, 2)))
  assert.deepEqual(await page(1), [{ seq: 3 }])
})

test('more scans than threads wait for their turn', async (t) => {
  const store = await openTestStore(t, { readerThreads: 2 })
  await fill(store, 5)
  const counts = await Promise.all(Array.from({ length: 10 }, () => store.scan.$count(notes)))
  assert.deepEqual(counts, Array(10).fill(5))
})

test('a scan for an owner returns the same rows as any other', async (t) => {
  const store = await openTestStore(t, { readerThreads: 1 })
  await fill(store, 5)
  const owners = ['a', 'b', 'a'].map((key, index) => ({ key, isJob: index === 2 }))
  const counts = owners.map((owner) => runFor(owner, () => store.scan.$count(notes)))
  assert.deepEqual(await Promise.all(counts), [5, 5, 5])
})

test('an invalid scan fails with the error of SQLite, and its thread goes on', async (t) => {
  const store = await openTestStore(t, { readerThreads: 1 })
  await assert.rejects(store.scan.all(sql`select x from nowhere`), {
    message: 'no such table: nowhere',
    code: 'SQLITE_ERROR',
  })
  assert.equal(await store.scan.$count(notes), 0)
})

test('neither the reader nor the scan threads can write', async (t) => {
  const store = await openTestStore(t)
  for (const reader of [store.read, store.scan]) {
    await assert.rejects(
      async () => reader.run(sql`insert into notes (id, seq) values ('x', 1)`),
      (error) => error instanceof AppError && error.code === 'DATABASE_ERROR',
    )
  }
  assert.equal(await store.read.$count(notes), 0)
})

test('close finishes running scans and leaves one file', async (t) => {
  const store = await openTestStore(t)
  await fill(store, 10)
  // A query starts when it is awaited.
  const scan = store.scan.get<{ total: number }>(slowCount).then((row) => row)
  await store.close()
  assert.deepEqual(await scan, { total: 1_000_000 })
  await assert.rejects(
    async () => store.scan.$count(notes),
    (error) => error instanceof AppError && error.code === 'DATABASE_ERROR',
  )
  assert.equal(store.walBytes(), 0)
})

test('listeners are called after a write of another connection, and not for own writes', async (t) => {
  const store = await openTestStore(t)
  const other = await openStore({ ...store.location, log: silentLog(), watch: false })
  t.after(() => other.close())
  const changes = new EventTarget()
  let callCount = 0
  const stop = store.onExternalChange(() => {
    callCount += 1
    changes.dispatchEvent(new Event('change'))
  })
  await fill(store, 3)
  for (let seq = 9; seq < 11; seq += 1) {
    const change = once(changes, 'change')
    await other.write((tx) => tx.insert(notes).values({ id: `x${seq}`, seq }))
    await change
  }
  assert.equal(callCount, 2)
  assert.equal(await store.read.$count(notes), 5)
  stop()
})

test('a listener that throws is logged, and the others are called', async (t) => {
  const entries: unknown[][] = []
  const store = await openTestStore(t, { log: recordingLog(entries) })
  const other = await openStore({ ...store.location, log: silentLog(), watch: false })
  t.after(() => other.close())
  const changes = new EventTarget()
  const error = new Error('listener')
  store.onExternalChange(() => {
    throw error
  })
  store.onExternalChange(() => changes.dispatchEvent(new Event('change')))
  const change = once(changes, 'change')
  await other.write((tx) => tx.insert(notes).values({ id: 'x', seq: 9 }))
  await change
  assert.deepEqual(entries[0], [{ error }, 'a listener for changes of other processes failed'])
})

test('two stores on one file write without losing anything', async (t) => {
  const store = await openTestStore(t)
  const other = await openStore({ ...store.location, log: silentLog(), watch: false })
  t.after(() => other.close())
  const writes = Array.from({ length: 200 }, async (_, seq) => {
    for (let i = 0; i < seq % 7; i += 1) await new Promise(setImmediate)
    const target = seq % 2 === 0 ? store : other
    await target.write((tx) => tx.insert(notes).values({ id: `${seq}`, seq }))
  })
  await Promise.all(writes)
  assert.equal(await store.read.$count(notes), 200)
})

test('a listener is called for commits until it is removed', async (t) => {
  const store = await openTestStore(t)
  let commitCount = 0
  const stop = store.onCommit(() => {
    commitCount += 1
  })
  await fill(store, 1)
  const once = commitCount
  stop()
  await store.write((tx) => tx.delete(notes))
  assert.deepEqual([once, commitCount], [1, 1])
})

test('S31: work that has changed something goes on when its client leaves', async (t) => {
  const store = await openTestStore(t)
  const client = fakeClient()
  await runFor({ key: 'a', isJob: false, client }, async () => {
    await store.write((tx) => tx.run(sql`create table changed (id integer)`))
    client.leave()
    assert.deepEqual(await store.scan.all(sql`select * from changed`), [])
  })
  await assert.rejects(
    runFor({ key: 'a', isJob: false, client }, async () => store.scan.all(sql`select 1`)),
    { code: 'REQUEST_TIMEOUT' },
  )
})
