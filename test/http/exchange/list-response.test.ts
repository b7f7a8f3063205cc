import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Listing,
  listingOf,
  pageListing,
  wholeListing,
} from '../../../src/features/ground/listing.ts'
import {
  arrayResponse,
  builtPageResponse,
  LIST_ANSWER_BYTES,
  MAX_PAGE_BYTES,
  pageResponse,
  wholeResponse,
} from '../../../src/http/exchange/list-response.ts'
import type { HttpResponse } from '../../../src/http/response.ts'

const KB = 1024

/** What the responses reserve. */
function memory() {
  const reserved: number[] = []
  return { reserved, reserve: async (bytes: number) => void reserved.push(bytes) }
}

/** The pieces of a body; a text is one. */
async function piecesOf({ body }: HttpResponse): Promise<Buffer[]> {
  if (typeof body === 'string' || body instanceof Uint8Array) return [Buffer.from(body as string)]
  return Array.fromAsync(body, (piece) => Buffer.from(piece))
}

const textOf = async (response: HttpResponse) =>
  Buffer.concat(await piecesOf(response)).toString('utf8')

/** Items of that size in JSON; `read`: how many rows were read, slice by slice. */
function listOf(count: number, bytes: number, first = 0) {
  const read: number[] = []
  const lines = Array.from({ length: count - first }, (_, index) => first + index)
  const page = pageListing({
    lines,
    bytesOf: () => bytes,
    async read(slice) {
      read.push(slice.length)
      return slice.map((id) => ({ id, text: 'x'.repeat(bytes - 20) }))
    },
    cursorOf: (line) => `after ${line}`,
    endCursor: null,
  })
  return { page, read }
}

describe('S29: a page', () => {
  it('has at most 2 MB of JSON, and pages together have every item once', async () => {
    const sizes = [
      [210, 100],
      [210, 20 * KB],
      [12, 700 * KB],
      [4, 3_000 * KB],
    ] as const
    for (const [count, bytes] of sizes) {
      const ids: number[] = []
      let rest = listOf(count, bytes).page
      for (;;) {
        const text = await textOf(await pageResponse(memory(), { name: 'data', listing: rest }))
        const page = JSON.parse(text) as {
          data: { id: number }[]
          cursor: string
          hasMore: boolean
        }
        assert.ok(page.data.length === 1 || text.length <= MAX_PAGE_BYTES, `${text.length}`)
        ids.push(...page.data.map(({ id }) => id))
        assert.equal(page.hasMore, page.cursor !== null)
        if (!page.hasMore) break
        assert.equal(page.cursor, `after ${ids.at(-1)}`)
        rest = listOf(count, bytes, Number(ids.at(-1)) + 1).page
      }
      assert.deepEqual(
        ids,
        Array.from({ length: count }, (_, index) => index),
        `${bytes}`,
      )
    }
  })

  it('fills its 2 MB', async () => {
    const { page } = listOf(200, 100 * KB)
    const text = await textOf(await pageResponse(memory(), { name: 'data', listing: page }))
    assert.ok(text.length > MAX_PAGE_BYTES - 110 * KB, `${text.length}`)
  })

  it('reserves memory for its largest slice before it reads a row', async () => {
    const { page, read } = listOf(3, 900 * KB)
    const share = memory()
    const seen: number[] = []
    const reserve = async (bytes: number) => {
      seen.push(read.length)
      await share.reserve(bytes)
    }
    await pageResponse({ reserve }, { name: 'data', listing: page })
    assert.deepEqual([share.reserved, seen], [[256 * KB + 2 * 900 * KB], [0]])
    const small = memory()
    await pageResponse(small, { name: 'data', listing: listOf(3, 900).page })
    assert.deepEqual(small.reserved, [LIST_ANSWER_BYTES])
  })

  it('that has not been taken has read no more than its first slices', async () => {
    const { page, read } = listOf(1_000, 1 * KB)
    const response = await pageResponse(memory(), { name: 'data', listing: page })
    assert.equal(typeof response.body, 'object')
    const rows = () => read.reduce((sum, count) => sum + count, 0)
    assert.ok(rows() <= 300, `${rows()}`)
    const pieces = await piecesOf(response)
    assert.equal(rows(), 1_000)
    assert.ok(pieces.every((piece) => piece.length <= 400 * KB))
  })

  it('that fails before it is sent is refused, not cut', async () => {
    const listing: Listing<number, object> = {
      sliceBytes: 0,
      async *walk() {
        yield 1
        throw new Error('the disk is gone')
      },
    }
    await assert.rejects(pageResponse(memory(), { name: 'data', listing }), /the disk is gone/)
  })

  it('can be complete before it is sent', async () => {
    const { page } = listOf(200, 100 * KB)
    const { body } = await builtPageResponse({ name: 'data', listing: page })
    assert.ok(body instanceof Uint8Array && body.length <= MAX_PAGE_BYTES)
    const built = JSON.parse(Buffer.from(body).toString('utf8')) as { data: object[] }
    assert.equal(built.data.length, 20)
  })
})

describe('S29: a list by number', () => {
  it('has all of its rows, however large', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => index)
    const listing = wholeListing({
      lines,
      bytesOf: () => 300 * KB,
      read: async (slice) => slice.map(() => 'é'.repeat(150 * KB)),
    })
    const response = await wholeResponse(memory(), { name: 'data', before: { id: 'x' }, listing })
    const pieces = await piecesOf(response)
    const { id, data } = JSON.parse(Buffer.concat(pieces).toString('utf8'))
    assert.deepEqual([id, data.length, new Set(data).size], ['x', 40, 1])
    assert.ok(pieces.every((piece) => piece.length <= 1.2 * 1024 * KB))
  })

  it('has one piece of a large item in memory at a time', async (t) => {
    const lengths: number[] = []
    const stringify = JSON.stringify
    t.mock.method(JSON, 'stringify', (value: unknown) => {
      if (typeof value === 'string') lengths.push(value.length)
      return stringify(value)
    })
    const listing = listingOf([{ text: 'x'.repeat(2_000 * KB) }, { text: 'y'.repeat(2_000 * KB) }])
    const { body } = await wholeResponse(memory(), { name: 'data', listing })
    const made = () => lengths.reduce((sum, length) => sum + length, 0)
    let taken = 0
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      // The text of two pieces is there before the response begins.
      assert.ok(made() - taken <= 4 * 128 * KB, `${made() - taken}`)
      taken += piece.length
    }
    assert.ok(taken > 4_000 * KB)
  })

  it('may be a bare array, an empty one too, or have two names', async () => {
    assert.equal(await textOf(await arrayResponse(memory(), listingOf([]))), '[]')
    assert.equal(
      await textOf(await arrayResponse(memory(), listingOf([1, { a: 2 }]))),
      '[1,{"a":2}]',
    )
    const twice = { name: 'templates', copy: 'data', listing: listingOf(['a', 'b']) }
    assert.equal(
      await textOf(await wholeResponse(memory(), twice)),
      '{"templates":["a","b"],"data":["a","b"]}',
    )
  })

  it('is the same under both names of a page, whatever is deleted meanwhile', async () => {
    const gone = new Set<number>()
    const lines = Array.from({ length: 300 }, (_, index) => index)
    const listing = pageListing({
      lines,
      bytesOf: () => 10 * KB,
      async read(slice) {
        // The first rows are gone as soon as they have been read.
        const rows = slice.map((id) =>
          gone.has(id) ? undefined : { id, text: 'x'.repeat(10 * KB) },
        )
        for (const id of slice) if (id < 50) gone.add(id)
        return rows
      },
      cursorOf: (line) => `after ${line}`,
      endCursor: null,
    })
    const share = memory()
    const text = await textOf(
      await pageResponse(share, { name: 'templates', copy: 'data', listing }),
    )
    const { templates, data, cursor } = JSON.parse(text)
    assert.ok(gone.size === 50 && templates.length > 50, 'more rows could take their places')
    assert.deepEqual(data, templates)
    assert.equal(cursor, `after ${templates.at(-1).id}`)
    assert.ok(text.length <= MAX_PAGE_BYTES)
    assert.ok((share.reserved[0] ?? 0) > text.length / 2, 'the copy counts')
  })

  it('is walked no further when its client has gone', async () => {
    let isLeft = false
    const listing: Listing<string, object> = {
      sliceBytes: 0,
      async *walk() {
        try {
          for (;;) yield 'x'.repeat(10 * KB)
        } finally {
          isLeft = true
        }
      },
    }
    const { body } = await wholeResponse(memory(), { name: 'data', listing })
    const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    await pieces.next()
    await pieces.return?.()
    assert.equal(isLeft, true)
  })
})
