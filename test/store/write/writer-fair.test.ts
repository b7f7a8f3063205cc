import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { AppError } from '../../../src/base/errors.ts'
import { openConnection } from '../../../src/store/connection.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Tx } from '../../../src/store/write/transaction.ts'
import { notes, openTestStore, stopClock } from '../test-store.ts'

/** Closures that note their names in the order in which they run, and how each ended. */
function recorder(store: Store) {
  const ran: string[] = []
  const work: Promise<void>[] = []
  const add = (name: string, heavyFor?: string) => {
    const closure = async (tx: Tx) => {
      ran.push(name)
      await tx.insert(notes).values({ id: `${name} ${ran.length}`, seq: 0 })
    }
    work.push(store.write(closure, { heavyFor }))
  }
  return { ran, work, add, done: () => Promise.all(work) }
}

const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}${index + 1}`)

test('a light write behind a flood of heavy ones waits for one of them', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const { ran, work, add, done } = recorder(store)
  for (const name of numbered('heavy', 20)) add(name, 'a')
  await work[0]
  for (const name of numbered('light', 3)) add(name)
  await done()
  const first = ran.indexOf('light1')
  assert.ok(first <= 2, `${ran}`)
  assert.deepEqual(ran.slice(first, first + 3), numbered('light', 3))
})

test('a heavy write has a transaction of its own', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const seen: number[] = []
  const count = async (tx: Tx) => {
    seen.push(await store.read.$count(notes))
    await tx.insert(notes).values({ id: `${seen.length}`, seq: 0 })
  }
  const heavyFor = 'a'
  await Promise.all([
    store.write(count, { heavyFor }),
    store.write(count),
    store.write(count),
    store.write(count, { heavyFor }),
  ])
  assert.deepEqual(seen, [0, 0, 2, 3])
})

test('a flood of light writes does not stop heavy ones', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const { ran, add, done } = recorder(store)
  add('heavy1', 'a')
  add('heavy2', 'a')
  for (const name of numbered('light', 256 * 3)) add(name)
  await done()
  // A group takes 256 of them.
  assert.deepEqual([ran.indexOf('heavy1'), ran.indexOf('heavy2')], [256, 513])
})

test('before the next heavy write, light writes get as much time as the last one took', async (t) => {
  const store = await openTestStore(t)
  const clock = stopClock(t)
  clock.restore()
  let at = 0
  t.mock.method(performance, 'now', () => at)
  const order: string[] = []
  const write = (name: string, ms: number, heavyFor?: string) =>
    store.write(
      async () => {
        order.push(name)
        at += ms
      },
      { heavyFor },
    )
  // A group ends after 5 ms.
  await Promise.all([
    write('heavy', 12, 'a'),
    write('heavy', 12, 'a'),
    ...numbered('light', 6).map((name) => write(name, 5)),
  ])
  const [one, two, three, four, five, six] = numbered('light', 6)
  assert.deepEqual(order, [one, 'heavy', two, three, four, 'heavy', five, six])
})

test('heavy writes of several owners are served in turn', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const { ran, add, done } = recorder(store)
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) add(name, name.slice(0, 1))
  await done()
  assert.deepEqual(ran, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

test('the event loop turns between two heavy writes, so that clients can connect', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const { work, add } = recorder(store)
  add('heavy1', 'a')
  add('heavy2', 'a')
  await work[0]
  let turns = 0
  let isDone = false
  work[1]?.then(() => {
    isDone = true
  })
  for (; !isDone; turns += 1) await turn()
  assert.ok(turns >= 8, `${turns} turns`)
})

test('a heavy write that fails undoes only itself, and no other write runs again', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const { ran, add, done } = recorder(store)
  add('light')
  const failing = store.write(
    async (tx) => {
      await tx.insert(notes).values({ id: 'failed', seq: 0 })
      throw new Error('as planned')
    },
    { heavyFor: 'a' },
  )
  add('heavy', 'a')
  await assert.rejects(failing, /as planned/)
  await done()
  assert.deepEqual(ran, ['light', 'heavy'])
  assert.equal(await store.read.$count(notes), 2)
})

test('heavy writes that wait too long for the lock fail, too', async (t) => {
  const store = await openTestStore(t)
  const other = openConnection({ path: store.location.path, busyTimeoutMs: 0 })
  other.script('BEGIN IMMEDIATE')
  let at = 0
  t.mock.method(performance, 'now', () => (at += 1000))
  const isRefused = (error: unknown) => error instanceof AppError && error.code === 'DATABASE_ERROR'
  const write = (heavyFor?: string) => store.write(async () => undefined, { heavyFor })
  await Promise.all([
    assert.rejects(write(), isRefused),
    assert.rejects(write('a'), isRefused),
    assert.rejects(write('b'), isRefused),
  ])
  other.script('ROLLBACK')
  other.close()
})

test('a write that waited for other writes is not refused for a lock that was just taken', async (t) => {
  const store = await openTestStore(t)
  const other = openConnection({ path: store.location.path, busyTimeoutMs: 0 })
  let at = 0
  t.mock.method(performance, 'now', () => at)
  const first = store.write(
    async () => {
      at += 60_000
    },
    { heavyFor: 'a' },
  )
  const second = store.write((tx) => tx.insert(notes).values({ id: 'second', seq: 0 }), {
    heavyFor: 'a',
  })
  await first
  other.script('BEGIN IMMEDIATE')
  for (let turns = 0; turns < 20; turns += 1) await turn()
  other.script('COMMIT')
  other.close()
  await second
  assert.equal(await store.read.$count(notes), 1)
})

test('close finishes heavy writes too', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const { ran, add, done } = recorder(store)
  for (const name of ['a1', 'a2', 'b1']) add(name, name.slice(0, 1))
  await store.close()
  await done()
  assert.deepEqual(ran, ['a1', 'b1', 'a2'])
})
