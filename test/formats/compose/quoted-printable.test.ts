import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { encodeQuotedPrintable as encode } from '../../../src/formats/compose/quoted-printable.ts'
import { hostileBody } from '../hostile-text.ts'

function decode(encoded: string): string {
  const octets = encoded
    .replaceAll('=\r\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(octets, 'latin1').toString('utf8')
}

test('the octets of RFC 2045 section 6.7 are escaped, the others are not', () => {
  const table: [string, string][] = [
    ['', ''],
    ['abc!"#$<>[]{}|~.', 'abc!"#$<>[]{}|~.'],
    ['a=b', 'a=3Db'],
    ['é', '=C3=A9'],
    ['\f\0\x7f', '=0C=00=7F'],
    ['a \r\nb\t\nc ', 'a=20\r\nb=09\r\nc=20'],
    ['a b\tc', 'a b\tc'],
    ['a  b \t\n  c', 'a  b =09\r\n  c'],
    ['a\rb\nc\r\nd\n\re', 'a\r\nb\r\nc\r\nd\r\n\r\ne'],
  ]
  for (const [text, encoded] of table) assert.equal(encode(text), encoded)
})

test('a long line is broken softly before its 77th column', () => {
  const line = "Now's the time for all folk to come to the aid of their country. ".repeat(2).trim()
  const [first, second] = encode(line).split('=\r\n')
  assert.equal(first, line.slice(0, 75))
  assert.equal(second, line.slice(75))
})

test('a soft break never falls inside a character', () => {
  for (let lead = 0; lead < 80; lead += 1) {
    const encoded = encode(`${'x'.repeat(lead)}é€😀`)
    for (const line of encoded.split('=\r\n')) {
      assert.equal(decode(line).includes('\ufffd'), false, line)
    }
  }
})

test('long texts survive, wherever they are cut into blocks', () => {
  for (const text of [
    '😀'.repeat(50_001),
    '\0'.repeat(50_000),
    '\n'.repeat(100_000),
    `x${'a\r\n😀'.repeat(30_000)}`,
  ]) {
    assert.equal(decode(encode(text)), text.replace(/\r\n?|\n/g, '\r\n'))
  }
})

test('any text survives with CRLF line ends, in lines of at most 76 columns', () => {
  fc.assert(
    fc.property(hostileBody, (text) => {
      const encoded = encode(text)
      assert.equal(decode(encoded), text.replace(/\r\n?|\n/g, '\r\n'))
      for (const line of encoded.split('\r\n')) {
        assert.match(line, /^(?:[\t -<>-~]|=[0-9A-F]{2}){0,75}(?:=|[!-<>-~]|)$/)
        assert.ok(line.length <= 76)
      }
    }),
    { numRuns: 300 },
  )
})
