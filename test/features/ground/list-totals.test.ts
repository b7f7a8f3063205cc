import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { MINUTE_MS } from '../../../src/base/clock.ts'
import {
  addRowCounts,
  countStretches,
  createListTotals,
} from '../../../src/features/ground/list-totals.ts'
import { runFor, type WorkOwner } from '../../../src/turns/owner.ts'
import { fakeClient } from '../../turns/fake-client.ts'

test('a long count is kept for five minutes, a short one is made each time', async () => {
  const clock = { now: 1_000 }
  const totals = createListTotals({ now: () => clock.now })
  let rows = 1
  const short = async () => ({ total: rows, isLong: false })
  const long = async () => ({ total: rows, isLong: true })
  assert.equal(await totals.find({ list: 'a' }, short), 1)
  assert.equal(await totals.find({ list: 'b' }, long), 1)
  rows = 2
  assert.equal(await totals.find({ list: 'a' }, short), 2)
  assert.equal(await totals.find({ list: 'b' }, long), 1)
  assert.equal(await totals.find({ list: 'b', status: 'SENT' }, long), 2)
  clock.now += 5 * MINUTE_MS
  assert.equal(await totals.find({ list: 'b' }, long), 1)
  clock.now += 1
  assert.equal(await totals.find({ list: 'b' }, long), 2)
})

test('in the second half of its time a count is made again while the kept one is told', async () => {
  const clock = { now: 1_000 }
  const totals = createListTotals({ now: () => clock.now })
  const counts = [1, 2]
  const count = async () => ({ total: counts.shift() ?? 0, isLong: true })
  const fail = () => Promise.reject(new Error('closed'))
  const find = (by = count) => totals.find({ list: 'a' }, by)
  assert.equal(await find(), 1)
  clock.now += 2 * MINUTE_MS
  assert.equal(await find(), 1)
  assert.deepEqual(counts, [2])
  clock.now += MINUTE_MS
  const told: number[] = []
  for (const by of [fail, count, count]) {
    told.push(await find(by))
    // The count behind it ends.
    await setImmediate()
  }
  assert.deepEqual(told, [1, 1, 2])
})

test('callers who ask for the same share one count, and a failed one is not kept', async () => {
  const totals = createListTotals({ now: () => 0 })
  const gate = Promise.withResolvers<{ total: number; isLong: boolean }>()
  let runs = 0
  const count = () => {
    runs += 1
    return gate.promise
  }
  const both = [totals.find({ list: 'a' }, count), totals.find({ list: 'a' }, count)]
  gate.resolve({ total: 7, isLong: false })
  assert.deepEqual(await Promise.all(both), [7, 7])
  assert.equal(runs, 1)
  const fail = () => Promise.reject(new Error('closed'))
  await assert.rejects(totals.find({ list: 'a' }, fail), /closed/)
  assert.equal(await totals.find({ list: 'a' }, async () => ({ total: 3, isLong: false })), 3)
})

/** Counts that end when the test says so. */
function openCounts() {
  const totals = createListTotals({ now: () => 1_000 })
  const begun: string[] = []
  const gates = new Map<string, PromiseWithResolvers<{ total: number; isLong: boolean }>>()
  const ask = (name: string, owner: Partial<WorkOwner> = {}) =>
    runFor({ key: 'a', isJob: false, ...owner }, () =>
      totals.find({ name }, () => {
        begun.push(name)
        const gate = Promise.withResolvers<{ total: number; isLong: boolean }>()
        gates.set(name, gate)
        return gate.promise
      }),
    )
  const end = async (name: string) => {
    gates.get(name)?.resolve({ total: Number(name), isLong: true })
    await setImmediate()
  }
  return { ask, begun, end }
}

test('four counts of a project run at once; others wait, and leave with their clients', async () => {
  const { ask, begun, end } = openCounts()
  const first = fakeClient()
  const asked = ['1', '2', '3', '4'].map((name) => ask(name, { client: first }))
  const [gone, stays] = [fakeClient(), fakeClient()]
  const left = assert.rejects(ask('5', { client: gone }), { code: 'REQUEST_TIMEOUT' })
  const more = [ask('6', { client: stays }), ask('6', { client: fakeClient() })]
  const other = ask('7', { key: 'b' })
  assert.deepEqual(begun, ['1', '2', '3', '4', '7'])
  gone.leave()
  await left
  // What runs goes on.
  first.leave()
  // A count that runs is joined without a place.
  const joined = ask('1')
  await end('1')
  assert.deepEqual(begun, ['1', '2', '3', '4', '7', '6'])
  await end('2')
  for (const name of ['3', '4', '6', '7']) await end(name)
  assert.deepEqual(await Promise.all([...asked, joined, ...more, other]), [1, 2, 3, 4, 1, 6, 6, 7])
  assert.equal(begun.length, 6)
})

test('more counts than may wait are refused', async () => {
  const { ask, begun, end } = openCounts()
  const asked = Array.from({ length: 54 }, (_, at) => ask(`${at}`))
  await assert.rejects(ask('54'), { code: 'RATE_LIMIT_EXCEEDED' })
  for (let at = 0; at < begun.length; at += 1) await end(begun[at] ?? '')
  assert.deepEqual(
    await Promise.all(asked),
    asked.map((_, at) => at),
  )
})

test('a count is renewed once, also while the renewal waits', async () => {
  const clock = { now: 1_000 }
  const totals = createListTotals({ now: () => clock.now })
  let runs = 0
  const find = () =>
    totals.find({ name: 'old' }, async () => {
      runs += 1
      return { total: runs, isLong: true }
    })
  await find()
  clock.now += 3 * MINUTE_MS
  const gate = Promise.withResolvers<{ total: number; isLong: boolean }>()
  const others = [1, 2, 3, 4].map((name) => totals.find({ name }, () => gate.promise))
  assert.deepEqual(await Promise.all([find(), find(), find()]), [1, 1, 1])
  gate.resolve({ total: 9, isLong: false })
  await Promise.all(others)
  await setImmediate()
  assert.deepEqual([await find(), runs], [2, 2])
})

test('rows are counted stretch after stretch', async () => {
  const asked: (number | undefined)[] = []
  const counted = await countStretches<number>(async (after) => {
    asked.push(after)
    return after === 20 ? { count: 4, end: undefined } : { count: 10, end: (after ?? 0) + 10 }
  })
  assert.deepEqual(asked, [undefined, 10, 20])
  assert.deepEqual(counted, { total: 24, isLong: true })
  const short = await countStretches<number>(async () => ({ count: 4, end: undefined }))
  const deps = { listTotals: { stretch: 10 } }
  assert.deepEqual(addRowCounts(deps, [short]), { total: 4, isLong: false })
  assert.deepEqual(addRowCounts(deps, [short, counted]), { total: 28, isLong: true })
  assert.deepEqual(addRowCounts(deps, [short, short]), { total: 8, isLong: false })
  assert.deepEqual(addRowCounts(deps, [short, short, short]), { total: 12, isLong: true })
})
