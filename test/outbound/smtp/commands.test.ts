import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { prepareData } from '../../../src/outbound/smtp/commands.ts'

const octetsOf = (text: string) => Buffer.from(text).toString('latin1')

function prepare(text: string): string {
  const { octets, ending } = prepareData(octetsOf(text))
  return Buffer.from(octets + ending, 'latin1').toString()
}

test('a message ends with a line end and the final dot', () => {
  assert.equal(prepare('a: b\r\n\r\nc\r\n'), 'a: b\r\n\r\nc\r\n.\r\n')
  assert.equal(prepare('a: b\r\n\r\nc'), 'a: b\r\n\r\nc\r\n.\r\n')
})

test('S3: a dot at the beginning of any line is doubled', () => {
  assert.equal(
    prepare('.\r\n..\r\n.a\r\nb.\r\n\r\n.\r\n'),
    '..\r\n...\r\n..a\r\nb.\r\n\r\n..\r\n.\r\n',
  )
})

test('S3: a CR or LF that stands alone is refused, wherever it stands', () => {
  for (const text of [
    'a\nb\r\n',
    '\na',
    'a\rb\r\n',
    'a\r',
    'a\r\r\n',
    'a\n',
    '\r\n\n.\r\n',
    'a\n.\nb',
  ]) {
    assert.throws(() => prepare(text), TypeError, JSON.stringify(text))
  }
  assert.throws(() => prepare(''), TypeError)
})

test('a character above 0xff is refused, because truncation could turn it into a line end', () => {
  for (const text of ['a: \u010a.\u010d', 'ā', '好', '\ud83d\ude00']) {
    assert.throws(() => prepareData(text), TypeError, text)
  }
})

test('the size counts the message without stuffed dots, and 8-bit data is detected', () => {
  const plain = prepareData('.a\r\n')
  assert.deepEqual([plain.sizeBytes, plain.has8bit], [4, false])
  const wide = prepareData(octetsOf('é'))
  assert.deepEqual([wide.sizeBytes, wide.has8bit], [4, true])
})

test('only the last line is a single dot, and unstuffing restores the message', () => {
  const piece = fc.constantFrom('.', '\r\n', 'a', 'é', '..', ' ', '\r\n.')
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 60 }), (pieces) => {
      const message = pieces.join('')
      const sent = prepare(message)
      assert.ok(sent.endsWith('\r\n.\r\n') || sent === '.\r\n')
      const lines = sent.split('\r\n').slice(0, -1)
      assert.equal(lines.indexOf('.'), lines.length - 1)
      const back = lines.slice(0, -1).map((line) => `${line.replace(/^\./, '')}\r\n`)
      assert.equal(back.join(''), message.endsWith('\r\n') ? message : `${message}\r\n`)
    }),
    { numRuns: 300 },
  )
})
