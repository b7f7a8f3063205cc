import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type CsvRecord,
  createCsvParser,
} from '../../../../../src/features/people/import-export/csv/parser.ts'
import { writeRecord } from '../../../../../src/features/people/import-export/csv/writer.ts'

const format = { delimiter: ',', maxCells: 100, maxLength: 1000 }

function parse(pieces: readonly string[], options: Partial<typeof format> = {}): CsvRecord[] {
  const parser = createCsvParser({ ...format, ...options })
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()]
}

const texts = (records: readonly CsvRecord[]) =>
  records.map(({ cells }) => cells.map(({ text }) => text))

const cases: [name: string, csv: string, records: string[][]][] = [
  [
    'fields between commas',
    'a,b\r\nc,d\r\n',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['a last line without a line end', 'a\nb', [['a'], ['b']]],
  ['all three line ends, mixed', 'a\rb\nc\r\nd', [['a'], ['b'], ['c'], ['d']]],
  ['empty lines, which are no records', '\n\na\r\n\r\n\r\rb\n\n', [['a'], ['b']]],
  [
    'empty fields',
    ',\n,,',
    [
      ['', ''],
      ['', '', ''],
    ],
  ],
  ['quotes', '"a,b","c"', [['a,b', 'c']]],
  ['doubled quotes', '"a ""b"" c",""""', [['a "b" c', '"']]],
  ['an empty quoted field alone', '""\na', [[''], ['a']]],
  ['line breaks in quotes', '"a\r\nb\nc\rd",e', [['a\r\nb\nc\rd', 'e']]],
  ['blanks before an opening quote', 'a, "b, c"', [['a', 'b, c']]],
  ['blanks elsewhere, which stay', ' a , b ', [[' a ', ' b ']]],
  ['a quote in the middle of a field', 'a"b,c', [['a"b', 'c']]],
  ['text behind a closing quote', '"a"b,c', [['ab', 'c']]],
  ['more and fewer fields', 'a,b\nc\nd,e,f', [['a', 'b'], ['c'], ['d', 'e', 'f']]],
]

for (const [name, csv, records] of cases) {
  test(`reads ${name}`, () => {
    assert.deepEqual(texts(parse([csv])), records)
    assert.deepEqual(texts(parse([...csv])), records, 'one character at a time')
  })
}

test('returns the first line of a record and whether each cell was quoted', () => {
  const records = parse(['a\n\n"b\r\nb",c\r\nd'])
  assert.deepEqual(
    records.map(({ line }) => line),
    [1, 3, 5],
  )
  assert.deepEqual(
    records[1]?.cells.map(({ isQuoted }) => isQuoted),
    [true, false],
  )
})

test('S23: a record that is too long has no cells, and the next one is read', () => {
  const [long, next] = parse(['x'.repeat(900), `${'y'.repeat(200)}\n`, 'a,b'])
  assert.deepEqual(long, { cells: [], line: 1, problem: 'too-long' })
  assert.deepEqual(texts([next as CsvRecord]), [['a', 'b']])
})

test('S23: an unclosed quote makes the rest of the file one record', () => {
  const records = parse(['a,b\nc,"d\ne,f\n'])
  assert.deepEqual(texts(records), [['a', 'b'], []])
  assert.equal(records[1]?.problem, 'unclosed')
  assert.equal(records[1]?.line, 2)
})

test('cells beyond the maximum are dropped', () => {
  assert.deepEqual(texts(parse(['a,b,c,d\ne'], { maxCells: 2 })), [['a', 'b'], ['e']])
})

const csvText = fc
  .array(fc.constantFrom('a', ' ', ',', ';', '"', '""', '\n', '\r', '\r\n', '\t', 'é'), {
    maxLength: 60,
  })
  .map((parts) => parts.join(''))

test('the division of the text into pieces makes no difference', () => {
  fc.assert(
    fc.property(csvText, fc.array(fc.nat(60), { maxLength: 6 }), (csv, cuts) => {
      const places = [0, ...cuts.map((cut) => Math.min(cut, csv.length)), csv.length]
      const sorted = places.sort((one, other) => one - other)
      const pieces = sorted.slice(1).map((end, index) => csv.slice(sorted[index], end))
      assert.deepEqual(parse(pieces), parse([csv]))
    }),
  )
})

test('written records are read back', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', '=', 'é', '\t') })
  const records = fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { maxLength: 5 })
  fc.assert(
    fc.property(records, (rows) => {
      assert.deepEqual(texts(parse([rows.map(writeRecord).join('')])), rows)
    }),
  )
})
