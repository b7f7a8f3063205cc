import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  decode,
  repairRecord,
} from '../../../../../src/features/people/import-export/csv/encoding.ts'

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

type Decoded = { encoding: string; text: string; bytesRead: number }

async function read(bytes: Uint8Array, size = 64): Promise<Decoded> {
  const all: Decoded = { encoding: '', text: '', bytesRead: 0 }
  for await (const { text, bytesRead, encoding } of decode(chunksOf(bytes, size))) {
    all.text += text
    all.bytesRead = bytesRead
    all.encoding = `${encoding.name}${encoding.isGuessed ? ' guessed' : ''}`
  }
  return all
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
  ['UTF-16LE without a mark', Buffer.from(text, 'utf16le'), 'utf-16le guessed', text],
  ['UTF-16BE without a mark', utf16be(text), 'utf-16be guessed', text],
  ['plain ASCII', Buffer.from('email\na@b.test'), 'utf-8', 'email\na@b.test'],
  ['nothing', Buffer.alloc(0), '', ''],
  ['a byte that is not UTF-8', Buffer.from('Zo\xeb\n', 'latin1'), 'utf-8', 'Zo\udceb\n'],
  ['a byte beside UTF-8', Buffer.from([0xc3, 0xa9, 0xff, 0xf0]), 'utf-8', 'é\udcff\udcf0'],
  ['a character that is cut off at the end', Buffer.from([0x61, 0xc3]), 'utf-8', 'a\udcc3'],
  ['a surrogate in UTF-8', Buffer.from([0xed, 0xb2, 0x80]), 'utf-8', '\udced\udcb2\udc80'],
  ['half a pair in UTF-16', Buffer.from('\ufeffa\ud800b', 'utf16le'), 'utf-16le', 'a\ufffdb'],
  [
    'half a character in UTF-16',
    Buffer.concat([Buffer.from('\ufeffab', 'utf16le'), Buffer.from('c')]),
    'utf-16le',
    'ab\ufffd',
  ],
]

for (const [name, bytes, encoding, expected] of cases) {
  test(`S23: reads ${name}`, async () => {
    const bytesRead = bytes.length
    assert.deepEqual(await read(bytes), { encoding, text: expected, bytesRead })
    assert.deepEqual(await read(bytes, 5), { encoding, text: expected, bytesRead }, 'in chunks')
  })
}

test('UTF-8 is read wherever the chunks end', async () => {
  const unit = fc.constantFrom('a', 'é', '€', '😀')
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit, minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 9 }),
      async (characters, size) => {
        assert.equal((await read(Buffer.from(characters), size)).text, characters)
      },
    ),
  )
})

test('no byte is lost, and one that is not UTF-8 changes no other line', async () => {
  const damaged = fc
    .uint8Array({ minLength: 1, maxLength: 20 })
    .filter((line) => !line.includes(10))
  const piece = fc.oneof(damaged, fc.string({ unit: 'grapheme', maxLength: 9 }).map(Buffer.from))
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 3, max: 9 }),
      async (pieces, size) => {
        const whole = Buffer.concat(
          pieces.flatMap((bytes) => [Buffer.from(bytes), Buffer.from('\n')]),
        )
        const bytes = Buffer.concat([Buffer.from('x\n'), whole])
        const result = await read(bytes, size)
        if (result.encoding !== 'utf-8') return
        assert.deepEqual(encodeAgain(result.text), bytes)
        const lines = splitLines(bytes).filter((line) => isUtf8(line))
        for (const line of lines) assert.ok(result.text.includes(line.toString('utf8')))
      },
    ),
  )
})

function encodeAgain(decoded: string): Buffer {
  const parts = [...decoded].map((character) => {
    const code = character.codePointAt(0) ?? 0
    return code >= 0xdc80 && code <= 0xdcff ? Buffer.of(code & 0xff) : Buffer.from(character)
  })
  return Buffer.concat(parts)
}

function splitLines(bytes: Buffer): Buffer[] {
  const ends = [...bytes.keys()].filter((at) => bytes[at] === 10)
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : (ends[index - 1] ?? 0) + 1, end))
}

const rows: [name: string, cells: string[], repaired: string[], damage: object | undefined][] = [
  ['that is text', ['é', '😀\u{100dc}'], ['é', '😀\u{100dc}'], undefined],
  ['of Windows-1252', ['Zo\udceb', '\udc80'], ['Zoë', '€'], { isGuessed: true, replaced: 0 }],
  [
    'with UTF-8 elsewhere',
    ['é', 'x\udcff\udceb'],
    ['é', 'x\ufffd\ufffd'],
    { isGuessed: false, replaced: 2 },
  ],
  ['with a pair', ['😀', '\udcff'], ['😀', '\ufffd'], { isGuessed: false, replaced: 1 }],
]

for (const [name, cells, repaired, damage] of rows) {
  test(`a row ${name} becomes text, and its damage is counted`, () => {
    const record = { cells: cells.map((cell) => ({ text: cell, isQuoted: false })), line: 1 }
    const result = repairRecord(record)
    assert.deepEqual(
      result.record.cells.map((cell) => cell.text),
      repaired,
    )
    assert.deepEqual(result.damage, damage)
  })
}
