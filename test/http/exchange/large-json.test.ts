/** Large replies: the same JSON, made in stretches while others have their turn. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { largeJson } from '../../../src/http/exchange/large-json.ts'
import { anyCharacter } from '../../any-character.ts'
import { countTurns } from '../../event-loop.ts'

/** The pieces of a body, and whether others had a turn between each two of the later ones. */
async function piecesOf(value: unknown) {
  const { body } = largeJson(200, value)
  if (typeof body === 'string') return { pieces: [body], turns: 0 }
  const reading = Array.fromAsync(body as AsyncIterable<Uint8Array>, (piece) =>
    Buffer.from(piece).toString('utf8'),
  )
  const { result: pieces, turns } = await countTurns(reading)
  return { pieces, turns }
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

test('a page of large texts is serialized in steps, with other work in between', async () => {
  const text = `${'é"\n'.repeat(300_000)}😀`
  const page = { data: [{ metadata: { body: text } }, { metadata: { body: text } }], cursor: null }
  const { pieces, turns } = await piecesOf(page)
  assert.deepEqual(JSON.parse(pieces.join('')), page)
  assert.ok(
    pieces.every((piece) => piece.length <= 2 * 512 * 1024),
    'no piece is long',
  )
  assert.ok(turns >= pieces.length - 3, `${turns} turns for ${pieces.length} pieces`)
})

test('a surrogate pair at a cut keeps its meaning', async () => {
  const text = `${'x'.repeat(256 * 1024 - 1)}😀${'y'.repeat(256 * 1024)}`
  const { pieces } = await piecesOf({ text })
  assert.deepEqual(JSON.parse(pieces.join('')), { text })
})
