import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  isBlank,
  isHugeNumber,
  readBoolean,
  readCell,
  readCellText,
  readNumber,
  writeText,
  writeValue,
} from '../../../../../src/features/people/import-export/csv/cell.ts'
import {
  type Cell,
  createCsvParser,
} from '../../../../../src/features/people/import-export/csv/parser.ts'
import { writeRecord } from '../../../../../src/features/people/import-export/csv/writer.ts'

const ours = { isOwn: true, type: 'mixed' as const }
const plain = (text: string): Cell => ({ text, isQuoted: false })

/** What a column with this cell alone is, and whether it has too many digits for a number. */
const forms: [text: string, value: unknown, isHuge?: true][] = [
  ['true', true],
  ['Yes', true],
  ['TRUE', true],
  ['FALSE', false],
  ['no', false],
  ['0', 0],
  ['42', 42],
  ['-7.25', -7.25],
  ['0.5', 0.5],
  ['123456789012345', 123456789012345],
  ...[
    ...[
      '007',
      '-0',
      '00',
      '1.50',
      '2.0',
      '0.10',
      '+5',
      '+1',
      '1e5',
      '1E5',
      '.5',
      '5.',
      '1,5',
      '1.000,5',
    ],
    ...[
      '0x1f',
      '0x10',
      '0b1',
      '1_000',
      'NaN',
      'Infinity',
      '-Infinity',
      '1 000',
      '\u0661',
      '５',
      '--1',
    ],
    ...['2024-02-29', '2024-02-29T10:00:00Z', '{"a":1}', "'=1+1", 'yes please', 't', 'ja', '1n'],
  ].map((text): [string, string] => [text, text]),
  ['12345678901234567890', '12345678901234567890', true],
  ['9007199254740993', '9007199254740993', true],
  ['0.12345678901234567', '0.12345678901234567', true],
  ['1e400', '1e400', true],
  ['-1e400', '-1e400', true],
]

for (const [text, value, isHuge = false] of forms) {
  test(`${JSON.stringify(text)} is ${JSON.stringify(value)} without loss`, () => {
    assert.deepEqual(readNumber(text) ?? readBoolean(text) ?? text, value)
    assert.equal(isHugeNumber(text), isHuge)
    const cell = plain(` ${text} `)
    assert.equal(readCell(cell, { isOwn: false, type: 'text' }), text, 'on request it stays text')
    const type = typeof value === 'string' ? 'text' : (typeof value as 'number' | 'boolean')
    assert.deepEqual(readCell(cell, { isOwn: false, type }), value)
  })
}

test('quoted blanks are blank in a foreign file', () => {
  assert.equal(isBlank({ text: '  ', isQuoted: true }, { isOwn: false }), true)
})

test('a number that is read gives back its text', () => {
  const decimal = fc
    .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.nat(99))
    .map(([whole, cents]) => `${whole}.${cents}`)
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789.-+eE'), maxLength: 8 })
  fc.assert(
    fc.property(fc.oneof(decimal, digits), (text) => {
      const value = readNumber(text)
      if (value !== undefined) assert.equal(JSON.stringify(value), text)
    }),
  )
})

const hostile = fc.string({
  unit: fc.constantFrom(
    ...["'", '=', '+', '-', '@', '\t', '\r', '\n', ' ', 'a', '1', '{', '}', '"', '\0', '\u200b'],
  ),
  minLength: 1,
})

const runs = /^[\s\0\u200b]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/

/** A text as a file of CSV can have it. */
function inFile(text: string): string {
  return text.replaceAll(/[\0\p{Cs}]/gu, '\ufffd')
}

test('no written text runs as a formula, and each is read back unchanged', () => {
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string()), (text) => {
      const written = writeText(text)
      assert.doesNotMatch(written, runs)
      assert.doesNotMatch(written, /[\0\p{Cs}]/u)
      const read = readCellText({ text: written, isQuoted: true }, { isOwn: true })
      assert.equal(read, inFile(text))
    }),
  )
})

test('S23: known formula payloads are made harmless', () => {
  const formulas = [
    ...['=cmd|"/C calc"!A0', '+1+1', '-2+3', '@SUM(A1)', '\t=1', '\r=1', ' =1', "'=1", '＝1'],
    ...['\x1b+1', '\u200b=1', '\ufeff@x'],
  ]
  for (const formula of formulas) assert.equal(writeText(formula), `'${formula}`)
  for (const text of ['a=b', '1-2', "it's", "'tis", 'a@b.test']) assert.equal(writeText(text), text)
})

test('NUL and half a pair become U+FFFD in a text, and stay in JSON', () => {
  assert.equal(writeText('a\0b\ud800'), 'a\ufffdb\ufffd')
  assert.equal(writeText('\0=1'), '\ufffd=1')
  assert.equal(writeText('\ud83d\ude00'), '\ud83d\ude00')
  assert.equal(writeValue(['a\0\ud800']), '["a\\u0000\\ud800"]')
})

test('a JSON number stays a number, also with a minus sign', () => {
  assert.equal(writeValue(-5), '-5')
  assert.equal(writeValue(0.5), '0.5')
  assert.equal(writeValue('-5'), "'-5")
})

const json = fc.oneof(
  hostile,
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.constantFrom('5', '-5', '007', 'true', 'no', '1e5', '{}', '[1]', "'[1]", '[VIP]', '{"a":'),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0 || 0),
  fc.boolean(),
  fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
)

test('every value of a contact survives an export and import', () => {
  fc.assert(
    fc.property(json, (value) => {
      const parser = createCsvParser({ delimiter: ',', maxCells: 9, maxLength: 1e6 })
      const [record] = parser.push(writeRecord(['x', writeValue(value)]))
      const cell = record?.cells[1]
      assert.ok(cell)
      assert.equal(isBlank(cell, ours), false)
      const expected = typeof value === 'string' ? inFile(value) : value
      assert.equal(JSON.stringify(readCell(cell, ours)), JSON.stringify(expected))
    }),
  )
})
