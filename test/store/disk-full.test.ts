import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../src/errors.ts'
import { sql } from '../../src/store/drizzle.ts'
import type { Store, Tx } from '../../src/store/store.ts'
import { notes, openTestStore, stopClock } from './fixture.ts'

const large = 'x'.repeat(2_000_000)

function isDatabaseError(error: unknown): boolean {
  return error instanceof AppError && error.code === 'DATABASE_ERROR' && error.status === 503
}

async function limitPages(store: Store, pages: number): Promise<void> {
  await store.write(async (tx) => {
    await tx.get(sql.raw(`PRAGMA max_page_count = ${pages}`))
  })
}

test('a full disk fails every caller of the group and nothing of it is there', async (t) => {
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

test('when there is room again, writing goes on', async (t) => {
  const store = await openTestStore(t)
  await limitPages(store, 100)
  const insert = (tx: Tx) => tx.insert(notes).values({ id: 'large', seq: 1, body: large })
  await assert.rejects(store.write(insert), isDatabaseError)
  await limitPages(store, 1_000_000)
  await store.write(insert)
  assert.equal(await store.read.$count(notes), 1)
})

test('the error tells strangers nothing', async (t) => {
  const store = await openTestStore(t)
  await limitPages(store, 100)
  const write = store.write((tx) => tx.insert(notes).values({ id: 'l', seq: 1, body: large }))
  await assert.rejects(write, { message: 'The database cannot be used at the moment.' })
})

/** The failure is what the test is about; the closure looks away. */
function ignore(error: unknown): void {
  assert.ok(error instanceof Error)
}
