import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorkOwner } from '../../src/turns/owner.ts'
import { AT_ONCE, createLoopTurns } from '../../src/work/loop-turns.ts'

const ownerOf = (key: string): WorkOwner => ({ key, isJob: false })

/** Runs works of so many turns each; returns the work of each turn, in order. */
async function run(works: readonly { owner: WorkOwner; name: string; turns: number }[]) {
  const loop = createLoopTurns()
  const order: string[] = []
  await Promise.all(
    works.map(async ({ owner, name, turns }) => {
      for (let turn = 0; turn < turns; turn += 1) {
        await loop.next(owner)
        order.push(name)
      }
    }),
  )
  return order
}

/** The most works that have begun and not ended at once. */
function mostBegun(order: readonly string[], turns: number): number {
  const done = new Map<string, number>()
  let most = 0
  for (const name of order) {
    done.set(name, (done.get(name) ?? 0) + 1)
    most = Math.max(most, [...done.values()].filter((count) => count < turns).length)
  }
  return most
}

test('S29: of much work of a line, a few are begun at once, and the first to come ends first', async () => {
  const works = Array.from({ length: 100 }, (_, index) => ({
    ...{ owner: ownerOf('a'), name: String(index), turns: 10 },
  }))
  const order = await run(works)
  assert.equal(order.length, 1_000)
  assert.ok(mostBegun(order, 10) <= 1.5 * AT_ONCE, `${mostBegun(order, 10)}`)
  const ends = works.map(({ name }) => order.lastIndexOf(name))
  for (const [index, end] of ends.entries()) {
    const later = ends.slice(index + 2 * AT_ONCE)
    assert.ok(
      later.every((other) => other > end),
      `${index}`,
    )
  }
})

test('a few works of a line take turns', async () => {
  const owner = () => ownerOf('a')
  const order = await run([
    { owner: owner(), name: 'long', turns: 20 },
    { owner: owner(), name: 'short', turns: 3 },
  ])
  assert.deepEqual(order.slice(0, 6), ['long', 'short', 'long', 'short', 'long', 'short'])
})

test('S29: a short work of another line is delayed by one turn of each line, however long they are', async () => {
  const works = Array.from({ length: 100 }, (_, index) => ({
    ...{ owner: ownerOf('a'), name: String(index), turns: 10 },
  }))
  const order = await run([...works, { owner: ownerOf('b'), name: 'b', turns: 3 }])
  assert.ok(order.lastIndexOf('b') <= 6, `${order.lastIndexOf('b')}`)
})

test('S29: work that never ends keeps no later work of its line from a turn', async () => {
  const loop = createLoopTurns()
  let isOver = false
  const long = Array.from({ length: 3 * AT_ONCE }, async () => {
    const owner = ownerOf('a')
    for (let turns = 0; !isOver; turns += 1) {
      await loop.next(owner)
      assert.ok(turns < 10_000)
    }
  })
  const short = ownerOf('a')
  for (let turn = 0; turn < 3; turn += 1) await loop.next(short)
  isOver = true
  await Promise.all(long)
})

test('S29: work that asks for no turn holds up nobody', async () => {
  const loop = createLoopTurns()
  const unread = Array.from({ length: 2 * AT_ONCE }, () => ownerOf('a'))
  for (const owner of unread) await loop.next(owner)
  await loop.next(ownerOf('a'))
})
