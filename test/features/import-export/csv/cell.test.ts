import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  isBlank,
  readCell,
  readCellText,
  writeText,
  writeValue,
} from '../../../../src/features/import-export/csv/cell.ts'
import { type Cell, createCsvParser } from '../../../../src/features/import-export/csv/parser.ts'
import { writeRecord } from '../../../../src/features/import-export/csv/writer.ts'

const anyones = { isOwn: false, areStrings: false }
const ours = { isOwn: true, areStrings: false }
const plain = (text: string): Cell => ({ text, isQuoted: false })

const values: [text: string, value: unknown][] = [
  ['true', true],
  ['Yes', true],
  ['FALSE', false],
  ['no', false],
  ['0', 0],
  ['42', 42],
  ['-7.25', -7.25],
  ['1.50', 1.5],
  [' 5 ', 5],
  ['007', '007'],
  ['+5', '+5'],
  ['1e5', '1e5'],
  ['.5', '.5'],
  ['5.', '5.'],
  ['1,5', '1,5'],
  ['0x1f', '0x1f'],
  ['Infinity', 'Infinity'],
  ['12345678901234567890', '12345678901234567890'],
  ['123456789012345', 123456789012345],
  ['2024-02-29', '2024-02-29'],
  ['2024-02-29T10:00:00Z', '2024-02-29T10:00:00Z'],
  ['1', 1],
  ['{"a":1}', '{"a":1}'],
  ["'=1+1", "'=1+1"],
  ['yes please', 'yes please'],
]

for (const [text, value] of values) {
  test(`${JSON.stringify(text)} in a foreign file is ${JSON.stringify(value)}`, () => {
    assert.deepEqual(readCell(plain(text), anyones), value)
    const asText = readCell(plain(text), { isOwn: false, areStrings: true })
    assert.equal(asText, text.trim(), 'on request it stays text')
  })
}

test('quotes have no meaning in a foreign file', () => {
  assert.equal(readCell({ text: '5', isQuoted: true }, anyones), 5)
  assert.equal(isBlank({ text: '  ', isQuoted: true }, anyones), true)
})

test('a number that would lose digits stays a text', () => {
  const number = fc.tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.nat(99))
  fc.assert(
    fc.property(number, ([whole, cents]) => {
      const text = `${whole}.${String(cents).padStart(2, '0')}`
      const value = readCell(plain(text), anyones)
      if (typeof value === 'number')
        assert.equal(value.toFixed(2), text.replace(/^-0\.00$/, '0.00'))
      else assert.equal(value, text)
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

test('no written text runs as a formula, and each is read back unchanged', () => {
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string()), (text) => {
      const written = writeText(text)
      assert.doesNotMatch(written, runs)
      assert.equal(readCellText({ text: written, isQuoted: true }, { isOwn: true }), text)
    }),
  )
})

test('S23: known formula payloads are made harmless', () => {
  const formulas = [
    ...['=cmd|"/C calc"!A0', '+1+1', '-2+3', '@SUM(A1)', '\t=1', '\r=1', ' =1', "'=1", '＝1'],
    ...['\0=1', '\x1b+1', '\u200b=1', '\ufeff@x'],
  ]
  for (const formula of formulas) assert.equal(writeText(formula), `'${formula}`)
  for (const text of ['a=b', '1-2', "it's", "'tis", 'a@b.test']) assert.equal(writeText(text), text)
})

test('a JSON number stays a number, also with a minus sign', () => {
  assert.equal(writeValue(-5), '-5')
  assert.equal(writeValue(0.5), '0.5')
  assert.equal(writeValue('-5'), "'-5")
})

const json = fc.oneof(
  hostile,
  fc.string({ minLength: 1 }),
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
      assert.equal(JSON.stringify(readCell(cell, ours)), JSON.stringify(value))
    }),
  )
})
