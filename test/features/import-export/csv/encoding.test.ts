import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decode, detectEncoding } from '../../../../src/features/import-export/csv/encoding.ts'

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(bytes: Uint8Array, size = 64): Promise<[encoding: string, text: string]> {
  const encoding = await detectEncoding(chunksOf(bytes, size))
  let text = ''
  for await (const piece of decode(chunksOf(bytes, size), encoding)) text += piece.text
  return [encoding, text]
}

const text = 'email;name\r\nzoë@dest.test;Zoë "€" 😀\r\n'

function utf16be(characters: string): Buffer {
  return Buffer.from(characters, 'utf16le').swap16()
}

const cases: [name: string, bytes: Uint8Array, encoding: string, text: string][] = [
  ['UTF-8', Buffer.from(text), 'utf-8', text],
  [
    'UTF-8 behind a byte order mark, which is not text',
    Buffer.from(`\ufeff${text}`),
    'utf-8',
    text,
  ],
  ['UTF-16LE by its mark', Buffer.from(`\ufeff${text}`, 'utf16le'), 'utf-16le', text],
  ['UTF-16BE by its mark', utf16be(`\ufeff${text}`), 'utf-16be', text],
  ['UTF-16LE without a mark', Buffer.from(text, 'utf16le'), 'utf-16le', text],
  ['UTF-16BE without a mark', utf16be(text), 'utf-16be', text],
  ['Windows-1252', Buffer.from('name\nZo\xeb \x80\n', 'latin1'), 'windows-1252', 'name\nZoë €\n'],
  ['plain ASCII', Buffer.from('email\na@b.test'), 'utf-8', 'email\na@b.test'],
  ['nothing', Buffer.alloc(0), 'utf-8', ''],
  ['a character that is cut off at the end', Buffer.from([0x61, 0xc3]), 'windows-1252', 'aÃ'],
]

for (const [name, bytes, encoding, expected] of cases) {
  test(`S23: reads ${name}`, async () => {
    assert.deepEqual(await read(bytes), [encoding, expected])
    assert.deepEqual(await read(bytes, 5), [encoding, expected], 'in chunks of five bytes')
  })
}

test('UTF-8 is recognized wherever the chunks end', async () => {
  const unit = fc.constantFrom('a', 'é', '€', '😀')
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit, minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 9 }),
      async (characters, size) => {
        assert.deepEqual(await read(Buffer.from(characters), size), ['utf-8', characters])
      },
    ),
  )
})

test('one byte that is not UTF-8 makes the file Windows-1252, in which every byte is a character', async () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(bytes, fc.integer({ min: 1, max: 9 }), async (given, size) => {
      const all = Uint8Array.from([0x61, ...given])
      const [encoding, result] = await read(all, size)
      if (encoding === 'windows-1252') assert.equal(result.length, all.length)
      if (encoding === 'utf-8') assert.deepEqual(Buffer.from(result), Buffer.from(all))
    }),
  )
})
