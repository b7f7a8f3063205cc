import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../src/base/errors.ts'
import { ALONE, createGatherer } from '../../../src/store/write/gatherer.ts'
import type { Tx } from '../../../src/store/write/transaction.ts'

const recountCallers = () => undefined

/** A store whose closures run when the test lets them; it knows no database. */
function openQueue() {
  const closures: { run(): Promise<void> }[] = []
  const write = <T>(fn: (tx: Tx) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      closures.push({ run: () => fn({} as Tx).then(resolve, reject) })
    })
  const runAll = async () => {
    while (closures.length > 0) {
      await closures.shift()?.run()
      await new Promise(setImmediate)
    }
  }
  return { write, recountCallers, closures, runAll }
}

const double = async (_: Tx, items: readonly number[]) => items.map((item) => item * 2)

/** Doubles, and notes the items of each closure. */
function doubleInto(batches: number[][]) {
  return (tx: Tx, items: readonly number[]) => {
    batches.push([...items])
    return double(tx, items)
  }
}

/** `finish` adds nothing. */
function gatherIn(...[store, writes]: Parameters<typeof createGatherer<number, number>>) {
  const gather = createGatherer<number, number>(store, writes)
  return (item: number) => gather(item, async (_, written) => written)
}

const never = async (): Promise<number> => assert.fail('nothing is written alone')

test('items that wait together are written in one closure, each with its own result', async () => {
  const store = openQueue()
  const batches: number[][] = []
  const gather = gatherIn(store, {
    together: doubleInto(batches),
    alone: never,
  })
  const results = Promise.all([1, 2, 3].map(gather))
  await store.runAll()
  assert.deepEqual(await results, [2, 4, 6])
  assert.deepEqual(batches, [[1, 2, 3]])
  const later = gather(4)
  await store.runAll()
  assert.equal(await later, 8)
})

test('a closure takes at most 64 items, and none is left behind', async () => {
  const store = openQueue()
  const sizes: number[] = []
  const gather = gatherIn(store, {
    together: (tx, items) => {
      sizes.push(items.length)
      return double(tx, items)
    },
    alone: never,
  })
  const items = Array.from({ length: 150 }, (_, index) => index)
  const results = Promise.all(items.map(gather))
  await store.runAll()
  assert.deepEqual(
    await results,
    items.map((item) => item * 2),
  )
  assert.deepEqual(sizes, [64, 64, 22])
})

test('heavier items leave less room, and the rest is not left behind', async () => {
  const store = openQueue()
  const batches: number[][] = []
  const gather = gatherIn(store, {
    together: doubleInto(batches),
    alone: never,
    weigh: (item) => item,
  })
  const results = Promise.all([30, 30, 10, 100, 1, 60, 10, 40].map(gather))
  await store.runAll()
  assert.deepEqual(await results, [60, 60, 20, 200, 2, 120, 20, 80])
  assert.deepEqual(batches, [[30, 30], [10], [100], [1, 60], [10, 40]])
})

test('items that come before the closure runs join it, those that come later wait for the next', async () => {
  const store = openQueue()
  const batches: number[][] = []
  let during: Promise<number> | undefined
  const gather = gatherIn(store, {
    together: async (tx, items) => {
      batches.push([...items])
      during ??= gather(3)
      return double(tx, items)
    },
    alone: never,
  })
  const first = Promise.all([gather(1), gather(2)])
  await store.runAll()
  assert.deepEqual(await first, [2, 4])
  assert.equal(await during, 6)
  assert.deepEqual(batches, [[1, 2], [3]])
})

test('an item that is refused falls out alone', async () => {
  const store = openQueue()
  const alone: number[] = []
  const gather = gatherIn(store, {
    together: async (_, items) => items.map((item) => (item === 2 ? ALONE : item)),
    alone: async (_, item) => {
      alone.push(item)
      throw new AppError('BAD_REQUEST', 'refused')
    },
  })
  const results = Promise.allSettled([1, 2, 3].map(gather))
  await store.runAll()
  const statuses = (await results).map(({ status }) => status)
  assert.deepEqual(statuses, ['fulfilled', 'rejected', 'fulfilled'])
  assert.deepEqual(alone, [2])
})

test('what `finish` writes shares the closure, and its failure fails one item', async () => {
  const store = openQueue()
  const runs: string[] = []
  const gather = createGatherer<number, number>(store, {
    together: double,
    alone: async (_, item) => item * 2,
  })
  const results = Promise.allSettled(
    [1, 2, 3].map((item) =>
      gather(item, async (_, written) => {
        runs.push(`${item}: ${written}`)
        if (item === 2) throw new AppError('CONFLICT', 'a key is used')
        return `item ${item}`
      }),
    ),
  )
  await store.runAll()
  const settled = await results
  assert.deepEqual(
    settled.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.code)),
    ['item 1', 'CONFLICT', 'item 3'],
  )
  assert.deepEqual(runs, ['1: 2', '2: 4', '1: 2', '2: 4', '3: 6'])
})

test('a batch that fails is written one by one', async () => {
  const store = openQueue()
  const gather = gatherIn(store, {
    together: () => Promise.reject(new TypeError('a conflict')),
    alone: async (_, item) => item,
  })
  const results = Promise.all([1, 2, 3].map(gather))
  await store.runAll()
  assert.deepEqual(await results, [1, 2, 3])
})

test('a failed transaction is not tried again: it may be durable', async () => {
  const store = openQueue()
  const gather = gatherIn(store, {
    together: () => Promise.reject(new AppError('DATABASE_ERROR', 'the disk is full')),
    alone: never,
  })
  const results = Promise.allSettled([1, 2].map(gather))
  await store.runAll()
  for (const result of await results) {
    assert.equal(result.status === 'rejected' && result.reason.code, 'DATABASE_ERROR')
  }
})

test('a closure that never ran fails its items only', async () => {
  const closures: { fail(): void; run(): void }[] = []
  const write = <T>(fn: (tx: Tx) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      closures.push({
        fail: () => reject(new AppError('DATABASE_ERROR', 'the lock')),
        run: () => void fn({} as Tx).then(resolve, reject),
      })
    })
  const gather = gatherIn({ write, recountCallers }, { together: double, alone: never })
  const lost = gather(1)
  closures.shift()?.fail()
  await assert.rejects(lost, { code: 'DATABASE_ERROR' })
  const next = gather(2)
  closures.shift()?.run()
  assert.equal(await next, 4)
})

test('a second run of the closure has the same items', async () => {
  const runs: number[][] = []
  const write = async <T>(fn: (tx: Tx) => Promise<T>): Promise<T> => {
    await null
    await fn({} as Tx)
    return fn({} as Tx)
  }
  const gather = gatherIn(
    { write, recountCallers },
    {
      together: (tx, items) => {
        runs.push([...items])
        return double(tx, items)
      },
      alone: never,
    },
  )
  assert.deepEqual(await Promise.all([gather(1), gather(2)]), [2, 4])
  assert.deepEqual(runs, [
    [1, 2],
    [1, 2],
  ])
})
