import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeQuotedPrintable } from '../../../src/formats/reading/part-text.ts'

/** The decoder of the parser, which is right for ASCII. */
const { decode } = createRequire(import.meta.resolve('mailparser'))('libqp') as {
  decode(text: string): Buffer
}

test('quoted-printable is decoded as the parser does', () => {
  const piece = fc.constantFrom(
    ...['=', '=\r\n', '=\n', '=3D', '=3d', '=C3=A9', '=4', '=G1', ' ', '\t', '\r\n', '\n'],
    ...['a', 'F', '0', '= ', '==', '= \r\n'],
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      assert.deepEqual(decodeQuotedPrintable(Buffer.from(text)), decode(text), JSON.stringify(text))
    }),
    { numRuns: 2_000 },
  )
})

test('octets beyond ASCII in quoted-printable stay as they are', () => {
  const text = 'Zo\u00eb =3D \u2026'
  assert.equal(decodeQuotedPrintable(Buffer.from(text)).toString(), text.replace('=3D', '='))
})
