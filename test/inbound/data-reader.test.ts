import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createDataReader } from '../../src/inbound/data-reader.ts'
import { withinCpuMs } from '../cpu-time.ts'

/** Returns what a reader yields for a text in these portions. */
function readAll(pieces: readonly string[]): { content: string; rest: string | undefined } {
  const reader = createDataReader()
  let content = ''
  for (const [index, piece] of pieces.entries()) {
    const read = reader.read(Buffer.from(piece, 'latin1'))
    content += read.content.toString('latin1')
    if (read.rest === undefined) continue
    return { content, rest: read.rest.toString('latin1') + pieces.slice(index + 1).join('') }
  }
  return { content, rest: undefined }
}

/** The rules of RFC 5321 section 4.5.2, applied to the whole text. */
function readByTheBook(text: string): { content: string; rest: string | undefined } {
  const end = text.startsWith('.\r\n') ? -2 : text.indexOf('\r\n.\r\n')
  const isOver = end !== -1
  const lines = (isOver ? text.slice(0, end + 2) : text).split('\r\n')
  const content = lines.map((line) => line.replace(/^\./, '')).join('\r\n')
  return { content, rest: isOver ? text.slice(end + 5) : undefined }
}

test('S1: only CRLF.CRLF ends a message', () => {
  assert.deepEqual(readAll(['a\r\n.\r\nQUIT\r\n']), { content: 'a\r\n', rest: 'QUIT\r\n' })
  assert.deepEqual(readAll(['.\r\nQUIT']), { content: '', rest: 'QUIT' })
  for (const end of ['\n.\n', '\n.\r\n', '\r\n.\n', '\r.\r\n', '\r\n.\r\r\n', '\r.\r', '\r\n.\r']) {
    assert.equal(readAll([`a${end}QUIT\r\n`]).rest, undefined, JSON.stringify(end))
  }
})

test('one dot is removed from a line that begins with a dot', () => {
  const { content } = readAll(['..\r\n...a\r\n.b\r\na.\r\n'])
  assert.equal(content, '.\r\n..a\r\nb\r\na.\r\n')
})

test('any text is read by RFC 5321, in portions of any size', () => {
  const piece = fc.string({ unit: fc.constantFrom('\r', '\n', '.', 'a'), maxLength: 6 })
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const whole = pieces.join('')
      const { content, rest } = readAll(pieces)
      const expected = readByTheBook(whole)
      assert.equal(rest, expected.rest)
      // Before the end, a dot and its CR may still be held back.
      if (rest !== undefined) assert.equal(content, expected.content)
      else assert.ok(expected.content.startsWith(content))
    }),
    { numRuns: 5_000 },
  )
})

test('a message of stuffed dots takes no more time than another', () => {
  const chunk = Buffer.from('..\r\n'.repeat(16_384))
  const reader = createDataReader()
  const read = () => {
    for (let index = 0; index < 64; index += 1) reader.read(chunk)
  }
  withinCpuMs(1_500, read, 'four megabytes')
})
