import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  formatFilename,
  formatLegacyName,
  formatParameter,
  formatParameterField,
  parseContentType,
} from '../../../src/formats/compose/parameters.ts'
import { hostileLine } from '../hostile-text.ts'
import { decodeWords } from '../read-message.ts'

/** Decodes RFC 2231 like a reader: joins the pieces, then decodes percent escapes. */
function readFilename(parameters: string[]): string {
  const [only] = parameters
  if (parameters.length === 1 && only?.startsWith('filename="')) return only.slice(10, -1)
  const encoded = parameters.map((parameter, i) => {
    const name = parameters.length === 1 ? 'filename*=' : `filename*${i}*=`
    assert.ok(parameter.startsWith(name) && parameter.length <= 75, parameter)
    return parameter.slice(name.length)
  })
  return decodeURIComponent(encoded.join('').replace(/^UTF-8''/, ''))
}

test('a media type is read with its parameters, up to the first malformed one', () => {
  const table: [string, string, [string, string][]][] = [
    ['image/png', 'image/png', []],
    ['Text/Plain; Charset=UTF-8', 'text/plain', [['charset', 'UTF-8']]],
    [
      'text/plain;charset="utf-8"; a=b;',
      'text/plain',
      [
        ['charset', 'utf-8'],
        ['a', 'b'],
      ],
    ],
    ['text/calendar ; method=REQUEST', 'text/calendar', [['method', 'REQUEST']]],
    [
      'a/b; x="q \\" \\\\ ;"; y=1',
      'a/b',
      [
        ['x', 'q " \\ ;'],
        ['y', '1'],
      ],
    ],
    ['a/b; x=1; X=2', 'a/b', [['x', '1']]],
    ['a/b; x; y=1', 'a/b', []],
    ["a/b; x*=UTF-8''y", 'a/b', []],
    ['a/b; x="open', 'a/b', []],
    ['application/vnd.a.b+json', 'application/vnd.a.b+json', []],
  ]
  for (const [value, type, parameters] of table) {
    const parsed = parseContentType(value)
    assert.equal(parsed?.type, type)
    assert.deepEqual([...(parsed?.parameters ?? [])], parameters)
  }
})

test('an invalid media type gives undefined', () => {
  for (const value of [
    '',
    'image',
    'image/',
    '/png',
    'a/b/c',
    'a b/c',
    'text/plain charset=x',
    'é/x',
  ]) {
    assert.equal(parseContentType(value), undefined, value)
  }
  assert.equal(parseContentType(`a/${'x'.repeat(200)}`), undefined)
})

test('a parameter is a token, a quoted string or percent-encoded', () => {
  assert.deepEqual(formatParameter('charset', 'utf-8'), ['charset=utf-8'])
  assert.deepEqual(formatParameter('x', 'a b'), ['x="a b"'])
  assert.deepEqual(formatParameter('x', ''), ['x=""'])
  assert.deepEqual(formatParameter('x', 'a"b'), ["x*=UTF-8''a%22b"])
  // The value of RFC 2231 section 4.1.
  assert.deepEqual(formatParameter('title', "This is even more ***fun*** isn't it! ü"), [
    "title*0*=UTF-8''This%20is%20even%20more%20%2A%2A%2Afun%2A",
    'title*1*=%2A%2A%20isn%27t%20it!%20%C3%BC',
  ])
})

test('a parameter that does not fit begins a new line', () => {
  const field = formatParameterField('Content-Type', 'text/plain', ['a=b', `c=${'d'.repeat(50)}`])
  assert.equal(field, `Content-Type: text/plain; a=b;\r\n c=${'d'.repeat(50)}\r\n`)
})

test('a filename is written plainly if that is safe', () => {
  assert.deepEqual(formatFilename('report 1.pdf'), ['filename="report 1.pdf"'])
  assert.equal(formatLegacyName('report 1.pdf'), 'name="report 1.pdf"')
  assert.deepEqual(formatFilename('résumé.pdf'), ["filename*=UTF-8''r%C3%A9sum%C3%A9.pdf"])
  assert.equal(formatLegacyName('résumé.pdf'), 'name="=?UTF-8?Q?r=C3=A9sum=C3=A9=2Epdf?="')
})

test('any filename survives, and no piece splits a character', () => {
  fc.assert(
    fc.property(hostileLine, (filename) => {
      const pieces = formatFilename(filename)
      assert.equal(readFilename(pieces), filename)
      for (const piece of pieces) {
        if (piece.startsWith('filename*'))
          decodeURIComponent(piece.replace(/^[^=]*=(?:UTF-8'')?/, ''))
      }
      const legacy = formatLegacyName(filename)
      assert.equal(decodeWords(legacy.slice(6, -1).replaceAll('\r\n', '')), filename)
      assert.ok(legacy.split('\r\n').every((line) => line.length <= 77))
    }),
    { numRuns: 300 },
  )
})
