/** Large records: the same JSON, made in pieces. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { largeJson } from '../../../src/http/exchange/large-json.ts'
import { anyCharacter } from '../../any-character.ts'

/** The pieces of a body, and the memory that it says to keep. */
async function piecesOf(value: unknown) {
  const { body, reservedBytes = 0 } = largeJson(200, value)
  if (typeof body === 'string') return { pieces: [body], reservedBytes }
  const pieces = await Array.fromAsync(body as AsyncIterable<Uint8Array>, (piece) =>
    Buffer.from(piece).toString('utf8'),
  )
  return { pieces, reservedBytes }
}

test('the joined chunks equal the text of JSON.stringify', async () => {
  const value = fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 7 })
  await fc.assert(
    fc.asyncProperty(value, async (given) => {
      const { pieces } = await piecesOf({ data: [given], gone: undefined })
      assert.equal(pieces.join(''), JSON.stringify({ data: [given] }))
    }),
    { numRuns: 200 },
  )
})

test('a small response is one text, with its length', () => {
  const { status, headers, body } = largeJson(201, { data: [{ a: 1 }], none: [], nothing: {} })
  assert.equal(body, '{"data":[{"a":1}],"none":[],"nothing":{}}')
  assert.equal(status, 201)
  assert.match(headers['content-type'] ?? '', /^application\/json/)
})

test('a record of large texts is serialized in pieces, and its memory is counted', async () => {
  const text = `${'é"\n'.repeat(300_000)}😀`
  const page = { data: [{ metadata: { body: text } }, { metadata: { body: text } }], cursor: null }
  const { pieces, reservedBytes } = await piecesOf(page)
  assert.deepEqual(JSON.parse(pieces.join('')), page)
  assert.ok(
    pieces.every((piece) => piece.length <= 3 * 128 * 1024),
    'no piece is long',
  )
  assert.ok(
    reservedBytes >= 4 * text.length && reservedBytes < 4.1 * text.length,
    `${reservedBytes}`,
  )
})

test('a surrogate pair at a cut keeps its meaning', async () => {
  const text = `${'x'.repeat(256 * 1024 - 1)}😀${'y'.repeat(256 * 1024)}`
  const { pieces } = await piecesOf({ text })
  assert.deepEqual(JSON.parse(pieces.join('')), { text })
})
