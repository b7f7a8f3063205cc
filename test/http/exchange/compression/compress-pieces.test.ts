import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { type TestContext, test } from 'node:test'
import zlib, {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  gunzipSync,
} from 'node:zlib'
import { compressPieces } from '../../../../src/http/exchange/compression/compress-pieces.ts'

const CODINGS = {
  br: { whole: brotliDecompressSync, stream: createBrotliDecompress },
  gzip: { whole: gunzipSync, stream: createGunzip },
} as const

/** Returns what zlib has been asked for since. */
function watchZlib(t: TestContext): (zlib.Gzip | zlib.BrotliCompress)[] {
  const made: (zlib.Gzip | zlib.BrotliCompress)[] = []
  for (const name of ['createGzip', 'createBrotliCompress'] as const) {
    const create = zlib[name] as (options: object) => zlib.Gzip
    t.mock.method(zlib, name, (options: object) => {
      const stream = create(options)
      made.push(stream)
      return stream
    })
  }
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  return made
}

for (const coding of ['br', 'gzip'] as const) {
  test(`${coding}: all pieces come back, also those that do not get shorter`, async () => {
    const pieces = [randomBytes(300_000), Buffer.from('a'.repeat(500_000)), Buffer.from('end')]
    const made: Uint8Array[] = []
    const source = (async function* () {
      yield* pieces
    })()
    for await (const piece of compressPieces(source, coding)) made.push(piece)
    assert.deepEqual(CODINGS[coding].whole(Buffer.concat(made)), Buffer.concat(pieces))
  })

  test(`${coding}: a piece can be read before the next one is made`, async () => {
    let asked = 0
    const source = (async function* () {
      for (const text of ['first', 'second', 'third']) {
        asked += 1
        yield Buffer.from(text)
      }
    })()
    const reader = compressPieces(source, coding)[Symbol.asyncIterator]()
    const decoder = CODINGS[coding].stream()
    for (const [index, text] of ['first', 'second', 'third'].entries()) {
      const arrived = new Promise((resolve) => decoder.once('data', resolve))
      const { value } = await reader.next()
      decoder.write(value)
      assert.equal(String(await arrived), text)
      assert.equal(asked, index + 1)
    }
    decoder.destroy()
    await reader.return?.()
  })

  test(`${coding}: a reader that leaves ends the pieces, also before the first one`, async () => {
    for (const taken of [0, 1]) {
      let returned = 0
      const source: AsyncIterable<Uint8Array> = {
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ done: false, value: Buffer.from('more') }),
          return: async () => {
            returned += 1
            return { done: true, value: undefined }
          },
        }),
      }
      const reader = compressPieces(source, coding)[Symbol.asyncIterator]()
      for (let at = 0; at < taken; at += 1) await reader.next()
      await reader.return?.()
      assert.equal(returned, 1)
      assert.equal((await reader.next()).done, true)
    }
  })

  test(`${coding}: a piece that fails fails the body`, async () => {
    const source = (async function* () {
      yield Buffer.from('first')
      throw new Error('lost')
    })()
    const reader = compressPieces(source, coding)[Symbol.asyncIterator]()
    await reader.next()
    await assert.rejects(reader.next(), /lost/)
    assert.equal((await reader.next()).done, true)
  })

  test(`${coding}: an error of zlib between two pieces fails the next one`, async (t) => {
    const made = watchZlib(t)
    const source = (async function* () {
      yield Buffer.from('first')
      yield Buffer.from('second')
    })()
    const reader = compressPieces(source, coding)[Symbol.asyncIterator]()
    await reader.next()
    const [stream] = made
    assert.ok(stream)
    const closed = new Promise((resolve) => stream.once('close', resolve))
    stream.destroy(new Error('no memory'))
    await closed
    await assert.rejects(reader.next(), /no memory/)
    assert.equal((await reader.next()).done, true)
  })
}
