import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { eq, sql } from '../../../src/store/drizzle.ts'
import { createInlineThreads } from '../../../src/store/read/thread.ts'
import { openStore } from '../../../src/store/store.ts'
import { runFor } from '../../../src/turns/owner.ts'
import { notes, openTestStore } from '../test-store.ts'
import { countScans, moveClock } from './counted-scans.ts'

const JOBS = `CREATE TABLE jobs (id TEXT PRIMARY KEY, notes TEXT) STRICT`

/** `scans`: those that a thread was asked for. */
async function open(t: TestContext, { watch = true } = {}) {
  const { scans, counting } = countScans()
  const store = await openTestStore(t, { watch, createThread: counting(createInlineThreads()) })
  await store.write((tx) => tx.run(sql.raw(JOBS)))
  const passMs = moveClock(t)
  const find = (id: string) => store.scan.select().from(notes).where(eq(notes.id, id))
  const add = (id: string) => store.write((tx) => tx.insert(notes).values({ id, seq: 1 }))
  return { store, scans, find, add, passMs }
}

test('a scan of the server that found nothing does not run again before rows have changed', async (t) => {
  const { store, scans, find, add, passMs } = await open(t)
  for (let run = 0; run < 3; run += 1) {
    assert.deepEqual(await find('a'), [])
    assert.equal(await find('a').get(), undefined)
    assert.equal(await store.scan.$count(notes), 0)
    if (run === 0) passMs(10_000)
  }
  // A count is a row.
  assert.equal(scans.length, 2 + 3)
  await add('b')
  assert.deepEqual(await find('a'), [])
  assert.equal(scans.length, 6)
  await add('a')
  assert.equal((await find('a')).length, 1)
  assert.equal((await find('a')).length, 1)
  assert.equal(scans.length, 8)
})

test('while rows change, each scan runs', async (t) => {
  const { scans, find, add, passMs } = await open(t)
  await find('a')
  passMs(9_000)
  await find('a')
  await add('b')
  passMs(60_000)
  await find('a')
  await find('a')
  assert.equal(scans.length, 4)
})

test('scans with other parameters, and scans of requests, run', async (t) => {
  const { scans, find, passMs } = await open(t)
  await find('a')
  passMs(10_000)
  await find('b')
  assert.equal(scans.length, 2)
  const owner = { key: 'a project', isJob: false }
  for (let run = 0; run < 2; run += 1)
    assert.deepEqual(await runFor(owner, () => find('a').all()), [])
  assert.equal(scans.length, 4)
})

test('writes that change no rows, and those of jobs, do not count, but scans of jobs run', async (t) => {
  const { store, scans, find, passMs } = await open(t)
  await find('a')
  passMs(10_000)
  await store.write((tx) => tx.update(notes).set({ seq: 2 }).where(eq(notes.id, 'none')))
  await store.write((tx) => tx.delete(notes).where(eq(notes.id, 'none')).returning())
  await store.write((tx) => tx.run(sql.raw(`insert into jobs values ('j', '')`)))
  await find('a')
  assert.equal(scans.length, 1)
  const scanJobs = () => store.scan.all(sql.raw(`select 1 from jobs where id = 'k'`))
  for (let run = 0; run < 2; run += 1) assert.deepEqual(await scanJobs(), [])
  assert.equal(scans.length, 3)
})

test('rows that change while a scan runs make it run again', async (t) => {
  const { scans, find, add, passMs } = await open(t)
  const found = find('a').all()
  await add('a')
  // Its snapshot may be older or newer than the row.
  await found
  passMs(10_000)
  assert.equal((await find('a')).length, 1)
  assert.ok(scans.length >= 1)
})

test('a scan beside a transaction that is not committed is not the last', async (t) => {
  const { store, find, passMs } = await open(t)
  const written = Promise.withResolvers<void>()
  const scanned = Promise.withResolvers<void>()
  let isScanned = false
  void scanned.promise.then(() => {
    isScanned = true
  })
  const writing = store.write(
    async (tx) => {
      await tx.insert(notes).values({ id: 'a', seq: 1 })
      written.resolve()
      while (!isScanned) await tx.yieldToLoop()
    },
    { heavyFor: 'a test' },
  )
  await written.promise
  assert.deepEqual(await find('a'), [])
  scanned.resolve()
  await writing
  passMs(10_000)
  assert.equal((await find('a')).length, 1)
})

test('rows that another process changed count at once', async (t) => {
  const { store, find, passMs } = await open(t)
  assert.deepEqual(await find('a'), [])
  passMs(10_000)
  const { path, migrationsDir } = store.location
  const other = await openStore({ path, migrationsDir, log: silentLog(), watch: false })
  await other.write((tx) => tx.insert(notes).values({ id: 'a', seq: 1 }))
  assert.equal((await find('a')).length, 1)
  await other.close()
})

test('infinity is another parameter than null', async (t) => {
  const { store, add, passMs } = await open(t)
  await add('a')
  const below = (value: number | null) =>
    store.scan.all(sql`select id from notes where seq < ${value}`)
  assert.deepEqual(await below(null), [])
  passMs(10_000)
  assert.equal((await below(Number.POSITIVE_INFINITY)).length, 1)
})

test('scans fail after the store was closed', async (t) => {
  const { store, find, passMs } = await open(t)
  await find('a')
  passMs(10_000)
  await store.close()
  await assert.rejects(find('a').all())
})

test('where other processes are not watched, every scan runs', async (t) => {
  const { scans, find, passMs } = await open(t, { watch: false })
  await find('a')
  passMs(10_000)
  await find('a')
  assert.equal(scans.length, 2)
})
