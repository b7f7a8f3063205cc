import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  collect,
  listingOf,
  pageListing,
  SLICE_BYTES,
  SLICE_ROWS,
  slicesOf,
  wholeListing,
  withEnd,
} from '../../../src/features/ground/listing.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('S29: a list', () => {
  it('is read in slices of a hundred rows', async () => {
    const slices: number[] = []
    const listing = wholeListing({
      lines: numbers(250),
      async read(slice) {
        slices.push(slice.length)
        return slice
      },
    })
    assert.deepEqual((await collect(listing)).items, numbers(250))
    assert.deepEqual(slices, [SLICE_ROWS, SLICE_ROWS, 50])
  })

  it('is read in slices of 256 KB, and a larger row alone', () => {
    const lines = [100, 100, 100, 300, 1, 255, 1].map((size) => size * 1024)
    const slices = slicesOf({ lines, bytesOf: (line) => line })
    assert.deepEqual(
      slices.map((slice) => slice.map((line) => line / 1024)),
      [[100, 100], [100], [300], [1, 255], [1]],
    )
    assert.ok(slices.every((slice) => slice.length === 1 || sum(slice) <= SLICE_BYTES))
    const read = async (slice: readonly number[]) => slice
    assert.equal(wholeListing({ lines, bytesOf: (line) => line, read }).sliceBytes, 300 * 1024)
    assert.equal(listingOf(lines, (line) => line).sliceBytes, 857 * 1024, 'all of it is in memory')
  })

  it('is read only as far as its reader takes it', async () => {
    let read = 0
    const listing = wholeListing({
      lines: numbers(1_000),
      async read(slice) {
        read += slice.length
        return slice
      },
    })
    const walk = listing.walk()
    await walk.next()
    assert.equal(read, SLICE_ROWS)
    await walk.return({})
    assert.equal(read, SLICE_ROWS)
  })

  it('leaves out rows that are gone, and reads again what a slice left', async () => {
    const asked: number[][] = []
    const listing = wholeListing({
      lines: numbers(6),
      async read(slice) {
        asked.push([...slice])
        return slice.slice(0, 2).map((line) => (line === 3 ? undefined : line))
      },
    })
    assert.deepEqual((await collect(listing)).items, [0, 1, 2, 4, 5])
    assert.deepEqual(
      asked.map((slice) => slice[0]),
      [0, 2, 4],
    )
  })

  it('is read in turns of the event loop of its own, beside others', async () => {
    const starts: { loop: number; list: number }[] = []
    let loop = 0
    const count = () => {
      loop += 1
      if (starts.length < 12) setImmediate(count)
    }
    setImmediate(count)
    const read = (list: number) => async (slice: readonly number[]) => {
      starts.push({ loop, list })
      return slice
    }
    const lists = [0, 1, 2].map((list) =>
      collect(wholeListing({ lines: numbers(400), read: read(list) })),
    )
    await Promise.all(lists)
    const later = starts.slice(3).map((start) => start.loop)
    assert.equal(later.length, 9)
    assert.equal(new Set(later).size, 9, 'no two slices in one turn')
  })

  it('lets other work have a turn between slices', async () => {
    let turns = 0
    let isOver = false
    const count = () => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    await collect(listingOf(numbers(500)))
    isOver = true
    assert.ok(turns >= 4, `${turns}`)
  })
})

describe('a page', () => {
  const page = (endCursor: string | null) =>
    pageListing({
      lines: numbers(5),
      read: async (slice) => slice.map((line) => (line === 2 ? undefined : line)),
      cursorOf: (line) => `after ${line}`,
      endCursor,
    })

  it('ends with its own cursor when all of it was taken', async () => {
    assert.deepEqual((await collect(page('more'))).end, { cursor: 'more', hasMore: true })
    assert.deepEqual((await collect(page(null))).end, { cursor: null, hasMore: false })
  })

  it('ends before the item that was not taken, with the cursor of the line before', async () => {
    for (const [room, cursor] of [
      [1, 'after 0'],
      [2, 'after 2'],
      [3, 'after 3'],
    ] as const) {
      const walk = withEnd(page(null), (end) => ({ ...end, total: 5 })).walk()
      const items: number[] = []
      let next = await walk.next()
      while (!next.done) {
        const isTaken = items.length < room
        if (isTaken) items.push(next.value)
        next = await walk.next(isTaken)
      }
      assert.deepEqual(items, [0, 1, 3].slice(0, room))
      assert.deepEqual(next.value, { cursor, hasMore: true, total: 5 })
    }
  })
})

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0)
}
