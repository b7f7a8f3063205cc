import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import { after, test } from 'node:test'
import zlib, { brotliDecompressSync, gunzipSync } from 'node:zlib'

/** How many calls of zlib fail. */
let failures = 0

type Callback = (error: Error | null, octets: Buffer) => void
type Pack = (body: Uint8Array, options: object, done: Callback) => void

const kept = { gzip: zlib.gzip, brotliCompress: zlib.brotliCompress }
for (const name of ['gzip', 'brotliCompress'] as const) {
  const pack = kept[name] as Pack
  const failing: Pack = (body, options, done) => {
    if (failures === 0) return pack(body, options, done)
    failures -= 1
    done(new Error('no memory'), Buffer.alloc(0))
  }
  Object.assign(zlib, { [name]: failing })
}
syncBuiltinESMExports()
after(() => {
  Object.assign(zlib, kept)
  syncBuiltinESMExports()
})

const { createCompressor } = await import('../../../../src/http/exchange/compression/compress.ts')
const { COMPRESSION_BYTES } = await import(
  '../../../../src/http/exchange/compression/compress-pieces.ts'
)

const DECODERS = { gzip: gunzipSync, br: brotliDecompressSync }

for (const coding of ['gzip', 'br'] as const) {
  test(`${coding}: a failed compression of a body that all answers share is not kept`, async () => {
    const { compress } = createCompressor()
    const body = new Uint8Array(5_000)
    const response = { status: 200, body, headers: {}, reservedBytes: 0 }
    failures = 1
    await assert.rejects(compress(response, coding), /no memory/)
    const packed = await compress(response, coding)
    assert.deepEqual(DECODERS[coding](packed.body as Uint8Array), Buffer.from(body))
    assert.equal((await compress(response, coding)).body, packed.body)
  })

  test(`${coding}: a long text counts with its octets`, async () => {
    const { compress } = createCompressor()
    const text = 'x'.repeat(1_000_000)
    const ofText = await compress({ status: 200, body: text, headers: {} }, coding)
    assert.equal(ofText.reservedBytes, 2_000_000 + COMPRESSION_BYTES)
    const octets = new Uint8Array(1_000_000)
    const ofOctets = await compress({ status: 200, body: octets, headers: {} }, coding)
    assert.equal(ofOctets.reservedBytes, 1_000_000 + COMPRESSION_BYTES)
  })
}
