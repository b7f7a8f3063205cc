import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { AppError } from '../../../src/base/errors.ts'
import { silentLog } from '../../../src/base/log.ts'
import { describeDatabaseError } from '../../../src/store/database-error.ts'
import { sql } from '../../../src/store/drizzle.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import type { Tx } from '../../../src/store/write/transaction.ts'
import { createWritability } from '../../../src/store/write/writability.ts'
import { pause } from '../../pause.ts'
import { notes, openTestStore, stopClock } from '../test-store.ts'

const large = 'x'.repeat(2_000_000)

function isDatabaseError(error: unknown): boolean {
  return error instanceof AppError && error.code === 'DATABASE_ERROR' && error.status === 503
}

async function limitPages(store: Store, pages: number): Promise<void> {
  await store.write(async (tx) => {
    await tx.get(sql.raw(`PRAGMA max_page_count = ${pages}`))
  })
}

test('a full disk fails every caller of the group, and nothing of it is written', async (t) => {
  const store = await openTestStore(t)
  await store.write((tx) => tx.insert(notes).values({ id: 'before', seq: 0 }))
  await limitPages(store, 100)
  const calls: string[] = []
  const clock = stopClock(t)
  const results = await Promise.allSettled([
    ...['a', 'b'].map((id) =>
      store.write(async (tx) => {
        tx.afterCommit(() => calls.push(id))
        await tx.insert(notes).values({ id, seq: 1 })
      }),
    ),
    store.write((tx) => tx.insert(notes).values({ id: 'large', seq: 2, body: large })),
  ])
  clock.restore()
  for (const result of results) {
    assert.ok(result.status === 'rejected' && isDatabaseError(result.reason))
  }
  assert.deepEqual(calls, [])
  assert.deepEqual(await store.read.select({ id: notes.id }).from(notes), [{ id: 'before' }])
})

test('a closure that hides the full disk cannot write outside of its transaction', async (t) => {
  const store = await openTestStore(t)
  await limitPages(store, 100)
  const hide = async (tx: Tx) => {
    await tx.insert(notes).values({ id: 'large', seq: 1, body: large }).execute().catch(ignore)
    await tx.insert(notes).values({ id: 'small', seq: 2 }).execute().catch(ignore)
  }
  await assert.rejects(store.write(hide), isDatabaseError)
  assert.equal(await store.read.$count(notes), 0)
})

test('writes succeed again once the disk has free space', async (t) => {
  const store = await openTestStore(t)
  await limitPages(store, 100)
  const insert = (tx: Tx) => tx.insert(notes).values({ id: 'large', seq: 1, body: large })
  await assert.rejects(store.write(insert), isDatabaseError)
  await limitPages(store, 1_000_000)
  await store.write(insert)
  assert.equal(await store.read.$count(notes), 1)
})

test('the public error has no details', async (t) => {
  const store = await openTestStore(t)
  await limitPages(store, 100)
  const write = store.write((tx) => tx.insert(notes).values({ id: 'l', seq: 1, body: large }))
  await assert.rejects(write, { message: 'The database cannot be used at the moment.' })
})

test('a store is unwritable until a write of its own reaches the disk', async (t) => {
  const store = await openTestStore(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  assert.equal(store.isWritable(), true)
  await store.write((tx) => tx.insert(notes).values({ id: 'a', seq: 1 }))
  await assert.rejects(store.write((tx) => tx.insert(notes).values({ id: 'a', seq: 1 })))
  assert.equal(store.isWritable(), true, 'a fault of the query is none of the disk')
  await limitPages(store, 100)
  const insert = (tx: Tx) => tx.insert(notes).values({ id: 'large', seq: 1, body: large })
  await assert.rejects(store.write(insert), isDatabaseError)
  assert.equal(store.isWritable(), false)
  t.mock.timers.tick(4_000)
  await assert.rejects(store.write(insert), isDatabaseError)
  t.mock.timers.tick(4_000)
  await store.write(async () => undefined)
  assert.equal(store.isWritable(), false)
  t.mock.timers.tick(1_000)
  while (!store.isWritable()) await pause()
})

test('a probe that fails too keeps the store unwritable, and is repeated', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  const outcomes = [full, full, undefined]
  const writability = createWritability(async () => {
    const outcome = outcomes.shift()
    if (outcome === undefined) return
    writability.failed(outcome)
    throw outcome
  })
  writability.failed(full)
  for (let left = 2; left >= 0; left -= 1) {
    assert.equal(writability.isWritable(), false)
    t.mock.timers.tick(5_000)
    await new Promise(setImmediate)
    assert.equal(outcomes.length, left)
  }
  assert.equal(writability.isWritable(), true)
  writability.stop()
})

test('a probe that meets a lock instead of the disk is repeated', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const outcomes = [new AppError('DATABASE_ERROR', 'locked'), undefined]
  const writability = createWritability(async () => {
    const outcome = outcomes.shift()
    if (outcome !== undefined) throw outcome
  })
  writability.failed(Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' }))
  t.mock.timers.tick(5_000)
  await new Promise(setImmediate)
  assert.equal(writability.isWritable(), false)
  t.mock.timers.tick(5_000)
  await new Promise(setImmediate)
  assert.equal(writability.isWritable(), true)
  writability.stop()
})

test('describeDatabaseError names the file and the reason, for queries, commits and opening', async (t) => {
  const store = await openTestStore(t)
  await limitPages(store, 100)
  const write = store.write((tx) => tx.insert(notes).values({ id: 'l', seq: 1, body: large }))
  const error = await write.catch((reason) => reason)
  const { path } = store.location
  assert.equal(
    describeDatabaseError(error),
    `The database ${path} cannot be used: database or disk is full (SQLITE_FULL).`,
  )
  assert.equal(describeDatabaseError(new AppError('DATABASE_ERROR', 'It is newer.')), undefined)
  assert.equal(describeDatabaseError(new Error('x')), undefined)
  await writeFile(`${path}.other`, 'no database, but some text '.repeat(100))
  await assert.rejects(openStore({ path: `${path}.other`, log: silentLog() }), {
    code: 'DATABASE_ERROR',
    message: `The database ${path}.other cannot be opened: file is not a database (SQLITE_NOTADB).`,
  })
})

/** The closure ignores the failure that the test checks. */
function ignore(error: unknown): void {
  assert.ok(error instanceof Error)
}
