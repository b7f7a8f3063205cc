import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { parameter, statement } from '../../../src/store/statement.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Tx } from '../../../src/store/write/transaction.ts'
import { countTurns } from '../../event-loop.ts'
import { notes, openTestStore } from '../test-store.ts'

const HEAVY = { heavyFor: 'a' }

const insertNote = statement((db) =>
  db.insert(notes).values({ id: parameter('id'), seq: parameter('seq') }),
)

const rows = (count: number) =>
  Array.from({ length: count }, (_, seq) => ({ id: `note ${seq}`, seq }))

/** Every look at the clock finds it so much later. */
function runClock(t: TestContext, stepMs: number): void {
  let now = 0
  t.mock.method(performance, 'now', () => {
    now += stepMs
    return now
  })
}

const addAll = (store: Store, count: number, options?: { heavyFor: string }) =>
  store.write((tx) => tx.executeEach(insertNote, rows(count)), options)

test('a heavy write lets the event loop turn at intervals', async (t) => {
  const store = await openTestStore(t)
  runClock(t, 20)
  const { turns } = await countTurns(addAll(store, 1_000, HEAVY))
  assert.ok(turns >= 20, `${turns} turns`)
  assert.equal(await store.read.$count(notes), 1_000)
})

test('a quick heavy write, and any light one, runs without a turn', async (t) => {
  const store = await openTestStore(t)
  const { mock } = t.mock.method(performance, 'now', () => 0)
  const quick = await countTurns(addAll(store, 1_000, HEAVY))
  mock.restore()
  await store.write((tx) => tx.delete(notes))
  runClock(t, 20)
  const light = await countTurns(addAll(store, 1_000))
  assert.ok(quick.turns <= 3, `${quick.turns} turns`)
  assert.ok(light.turns <= 3, `${light.turns} turns`)
})

test("during a heavy write's turns its work is invisible, and no other write runs", async (t) => {
  const store = await openTestStore(t)
  runClock(t, 20)
  const seen: number[] = []
  const order: string[] = []
  const heavy = store.write(async (tx) => {
    await tx.executeEach(insertNote, rows(200))
    order.push('heavy')
  }, HEAVY)
  let others: Promise<void> | undefined
  for (let index = 0; index < 4; index += 1) {
    await turn()
    seen.push(await store.read.$count(notes))
    others ??= store.write(async () => {
      order.push('light')
    })
  }
  await Promise.all([heavy, others])
  assert.deepEqual(seen, [0, 0, 0, 0])
  assert.deepEqual(order, ['heavy', 'light'])
  assert.equal(await store.read.$count(notes), 200)
})

test('a heavy write that fails after a turn leaves nothing', async (t) => {
  const store = await openTestStore(t)
  runClock(t, 20)
  const fail = async (tx: Tx) => {
    await tx.executeEach(insertNote, rows(200))
    throw new Error('no')
  }
  const next = { heavyFor: 'b' }
  const results = await Promise.allSettled([store.write(fail, HEAVY), addAll(store, 1, next)])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  )
  assert.equal(await store.read.$count(notes), 1)
})

test('a heavy write may await nothing else, before a turn and after it', async (t) => {
  const store = await openTestStore(t)
  runClock(t, 20)
  const waits = async (tx: Tx, isFirst: boolean) => {
    if (!isFirst) await tx.yieldToLoop()
    await tx.execute(insertNote, rows(1)[0])
    await delay(1)
  }
  for (const isFirst of [true, false]) {
    await assert.rejects(
      store.write((tx) => waits(tx, isFirst), HEAVY),
      TypeError,
    )
  }
  assert.equal(await store.read.$count(notes), 0)
})

test('queries that a heavy write starts together share their turns', async (t) => {
  const store = await openTestStore(t)
  runClock(t, 20)
  const all = rows(400)
  const insert = (tx: Tx, from: number) => tx.executeEach(insertNote, all.slice(from, from + 200))
  await store.write((tx) => Promise.all([insert(tx, 0), insert(tx, 200)]), HEAVY)
  assert.equal(await store.read.$count(notes), 400)
})

test('a turn that is not awaited holds up no commit', async (t) => {
  const store = await openTestStore(t)
  runClock(t, 20)
  let late: Promise<void> | undefined
  await store.write(async (tx) => {
    await tx.execute(insertNote, rows(1)[0])
    late = tx.yieldToLoop()
    late.catch(() => undefined)
  }, HEAVY)
  await assert.rejects(late ?? Promise.resolve(), TypeError)
  assert.equal(await store.read.$count(notes), 1)
})

test('a store that is closed during a turn finishes the write', async (t) => {
  const store = await openTestStore(t)
  runClock(t, 20)
  const heavy = addAll(store, 500, HEAVY)
  await turn()
  await turn()
  const closing = store.close()
  assert.equal((await heavy).length, 500)
  await closing
})
