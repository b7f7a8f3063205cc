import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  BASE64_CHUNK_OCTETS,
  decodeInChunks,
  isBase64,
  scanBase64,
} from '../../../src/formats/compose/decode-base64.ts'

const BASE64 = ['aGk=', 'aGk', 'aGVsbG8=', 'aGVs\r\nbG8=\r\n', '_-8=', '+/8=', ' aGk= ']
for (const text of BASE64) {
  test(`${JSON.stringify(text)} is base64`, () => assert.equal(isBase64(text), true))
}

const NOT_BASE64 = [
  '',
  ' ',
  '=',
  '====',
  'a',
  'aGk===',
  'aG=k',
  'aGk=aGk=',
  'hello world!',
  'abcde',
  'é',
]
for (const text of [...NOT_BASE64, 'data:text/plain;base64,aGk=', '<p>Hi</p>']) {
  test(`${JSON.stringify(text)} is not base64`, () => assert.equal(isBase64(text), false))
}

test('encoded octets are base64, in either alphabet and in lines', () => {
  const octets = fc.uint8Array({ minLength: 1, maxLength: 300 })
  fc.assert(
    fc.property(octets, (bytes) => {
      const encoded = Buffer.from(bytes).toString('base64')
      assert.ok(isBase64(encoded))
      assert.ok(isBase64(Buffer.from(bytes).toString('base64url')))
      assert.ok(isBase64(encoded.replace(/.{76}/g, '$&\r\n')))
    }),
  )
})

test('scanning in steps gives the same result as scanning at once', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'B', '9', '/', '_', ' ', '=', '!', '\n') })
  const stretch = fc.integer({ min: 1, max: 5 })
  fc.assert(
    fc.property(text, stretch, (given, length) => {
      const scan = scanBase64(given)
      for (let end = length; end < given.length + length; end += length) scan.advance(end)
      assert.equal(scan.isBase64(), isBase64(given))
    }),
  )
})

for (const size of [1, 57, 58, BASE64_CHUNK_OCTETS - 57, BASE64_CHUNK_OCTETS, 2_500_001]) {
  test(`${size} octets are decoded in chunks of whole lines, with any line breaks`, () => {
    const octets = Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 7919) >> 3))
    const plain = octets.toString('base64')
    const unpadded = octets.toString('base64url')
    for (const text of [plain, unpadded, plain.replace(/.{76}/g, '$&\r\n'), `${plain}\r\n`]) {
      const chunks = [...decodeInChunks(text)]
      assert.ok(Buffer.concat(chunks).equals(octets))
      for (const [index, { length }] of chunks.entries()) {
        assert.ok(length > 0 && length <= BASE64_CHUNK_OCTETS)
        assert.ok(index === chunks.length - 1 || length % 57 === 0)
      }
    }
  })
}
