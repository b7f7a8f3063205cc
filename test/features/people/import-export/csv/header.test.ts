import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isImportable,
  type Mapping,
} from '../../../../../src/features/people/import-export/csv/column-names.ts'
import {
  isAddressHeader,
  RECORD_LIMITS,
  readHeader,
} from '../../../../../src/features/people/import-export/csv/header.ts'
import { createCsvParser } from '../../../../../src/features/people/import-export/csv/parser.ts'
import { ADDRESS_COLUMN_NAMES } from '../../../../../src/features/people/import-export/csv/translated-names.ts'
import { detectDelimiter } from '../../../../../src/features/people/import-export/read-rows.ts'
import { LANGUAGES } from '../../../../../src/texts/languages.ts'
import { FinalFailure } from '../../../../../src/work/jobs/run.ts'

function header(line: string, mapping: Mapping = []) {
  const parser = createCsvParser({ delimiter: ',', ...RECORD_LIMITS })
  const [record] = [...parser.push(line), ...parser.end()]
  assert.ok(record)
  const { columns, ...rest } = readHeader(record, { mapping, filename: 'people.csv' })
  return { ...rest, columns: Object.fromEntries(columns) }
}

test('headers are lower-cased and trimmed; spaces within stay', () => {
  const { columns } = header(' Name , EMAIL,Subscribed,First Name')
  assert.deepEqual(columns, {
    'data.name': [0],
    email: [1],
    subscribed: [2],
    'data.first name': [3],
  })
})

test('a line break or tab within a header counts as a blank', () => {
  const { columns } = header('email,"First\r\nname","data.a\tb","\nplan\n"')
  assert.deepEqual(columns, {
    email: [0],
    'data.first name': [1],
    'data.a b': [2],
    'data.plan': [3],
  })
  const mapped = header('email,"First\nname"', [['first name', 'data.name']])
  assert.deepEqual(mapped.columns, { email: [0], 'data.name': [1] })
  assert.deepEqual(mapped.warnings, [])
})

test('data.<key> is the key as spelled, and columns without a name are ignored', () => {
  const { columns } = header('email,,data.firstName,DATA.Plan,data.')
  assert.deepEqual(columns, { email: [0], 'data.firstName': [2], 'data.Plan': [3] })
})

test('a mapping precedes the names, and may exclude columns', () => {
  const mapping: Mapping = [
    ['e-mail', 'email'],
    ['email', null],
    ['tarif', 'data.Plan'],
    ['vorname', 'firstName'],
    ['ort', 'city'],
  ]
  const { columns, warnings } = header('E-Mail,email,Tarif,Vorname', mapping)
  assert.deepEqual(columns, { email: [0], 'data.Plan': [2], 'data.firstName': [3] })
  assert.deepEqual(warnings, ['The mapping names a column "ort" that does not exist.'])
})

test('S23: columns of the same name are one field, with a warning', () => {
  const { columns, warnings } = header('email,Plan,plan,__proto__,constructor')
  assert.deepEqual(columns['data.plan'], [1, 2])
  assert.deepEqual(warnings, [
    '2 columns are "data.plan"; in each row, the first that is not empty counts.',
  ])
  assert.deepEqual(columns['data.__proto__'], [3])
})

test('an export is recognized by its columns, and its read-only columns are ignored', () => {
  const own = header('id,email,subscribed,createdAt,updatedAt,data.Plan,"data. x"')
  assert.equal(own.isOwn, true)
  assert.deepEqual(own.columns, {
    email: [1],
    subscribed: [2],
    'data.Plan': [5],
    'data. x': [6],
  })
  const other = header('email,subscribed,createdAt')
  assert.equal(other.isOwn, false)
  assert.deepEqual(other.columns['data.createdat'], [2])
})

test('the address column has names in each of the 17 languages', () => {
  assert.deepEqual(Object.keys(ADDRESS_COLUMN_NAMES).sort(), [...LANGUAGES].sort())
  for (const name of Object.values(ADDRESS_COLUMN_NAMES).flat()) {
    const spelled = [name, name.toUpperCase(), ` ${name} *`, name.replaceAll(' ', '_')]
    for (const text of spelled) {
      assert.deepEqual(header(`Name,${text}`).columns, { 'data.name': [0], email: [1] }, text)
    }
  }
  for (const text of [
    'E-Mail',
    'e_mail',
    'E‑mail',
    'Ｅメール',
    'Adresse electronique',
    '"E-mail:"',
  ]) {
    assert.deepEqual(header(`x,${text}`).columns.email, [1], text)
  }
  for (const text of ['mail', 'address', 'work email', 'email 2', 'emails sent', 'e', '...']) {
    assert.throws(() => header(`name,${text}`), FinalFailure, text)
  }
})

test('other names of the address are data if a column is email or mapped to it', () => {
  assert.deepEqual(header('E-Mail,email').columns, { 'data.e-mail': [0], email: [1] })
  const mapped = header('E-Mail,Courriel', [['courriel', 'email']])
  assert.deepEqual(mapped.columns, { 'data.e-mail': [0], email: [1] })
  const other = header('E-Mail,Courriel', [['e-mail', 'data.second']])
  assert.deepEqual(other.columns, { 'data.second': [0], email: [1] })
})

test('two other names of the address are one field, with a warning', () => {
  const { columns, warnings } = header('E-Mail,Name,Email Address')
  assert.deepEqual(columns, { 'data.name': [1], email: [0, 2] })
  assert.match(warnings[0] ?? '', /^2 columns are "email"/)
})

test('any name of the address helps to detect the delimiter', () => {
  assert.ok(isAddressHeader('Adresse e-mail', []))
  assert.ok(!isAddressHeader('Adresse e-mail', [['adresse e-mail', null]]))
})

test('the error for a missing address column says how to name it', () => {
  assert.throws(
    () => header('Kontakt,Name'),
    (error) =>
      error instanceof FinalFailure &&
      error.message.endsWith('name it in the field "mapping", as in {"Kontakt": "email"}.'),
  )
})

const refused: [name: string, line: string, reason: RegExp][] = [
  ['no email', 'mail,name', /no column "email". Its columns: "mail", "name"\./],
  ['more than a thousand columns', `email${',x'.repeat(1000)}`, /more than 1000 columns/],
  ['a quote that is never closed', 'email,"name', /quote in the header row/],
  ['a header of a megabyte', `email,${'x'.repeat(1024 * 1024)}`, /longer than 262144/],
]

test('a file may have a thousand columns', () => {
  assert.equal(header(`email${',x'.repeat(999)}`).columns['data.x']?.length, 999)
})

for (const [name, line, reason] of refused) {
  test(`a file with ${name} is rejected`, () => {
    assert.throws(
      () => header(line),
      (error) => error instanceof FinalFailure && reason.test(error.message),
    )
  })
}

test('a mapping may name any field except read-only ones', () => {
  for (const word of ['email', 'subscribed', 'plan', 'data.plan', 'First name', '__proto__']) {
    assert.equal(isImportable(word), true, word)
  }
  for (const word of ['id', 'data.id', 'unsubscribeUrl', 'data.', 'a\0b', 'k'.repeat(256)]) {
    assert.equal(isImportable(word), false, word)
  }
})

const delimiters: [sample: string, delimiter: string][] = [
  ['email,name\na@b.test,Ada', ','],
  ['email;name\na@b.test;"a,b,c,d"', ';'],
  ['"name, first";"email"\n', ';'],
  ['name\temail\tplan, or none\n', '\t'],
  ['email|a,b', '|'],
  ['email', ','],
  ['\n\n  \nname;email\n', ';'],
  ['mail;a;b;c,d', ';'],
  ['', ','],
  ['"name\nof it";email', ';'],
]

for (const [sample, delimiter] of delimiters) {
  test(`the delimiter of ${JSON.stringify(sample)} is ${JSON.stringify(delimiter)}`, () => {
    const isNameOfAddress = (text: string) => isAddressHeader(text, [])
    assert.equal(detectDelimiter(sample, isNameOfAddress).delimiter, delimiter)
  })
}

test('a line that names the delimiter decides, and is not the header', () => {
  const found = detectDelimiter('sep=;\r\nemail,x;name\r\n', (text) => text === 'email')
  assert.deepEqual(found, { delimiter: ';', skippedLines: 1 })
})

test('only the first row of a sample is parsed for each delimiter', () => {
  const text = `email,name\n${'é\n'.repeat(30_000)}`
  let read = 0
  const sample = {
    length: text.length,
    toString: () => text,
    slice(from: number, to: number) {
      read += Math.min(to, text.length) - from
      return text.slice(from, to)
    },
  }
  const { delimiter } = detectDelimiter(sample as unknown as string, (cell) => cell === 'email')
  assert.equal(delimiter, ',')
  assert.ok(read > 0 && read <= 4 * 1024, `${read} characters`)
})

test('a first row that is longer than a step is read whole', () => {
  const names = Array.from({ length: 400 }, (_, index) => `column ${index}`).join(';')
  const found = detectDelimiter(`\n\n${names};email\na;b\n`, (text) => text === 'email')
  assert.deepEqual(found, { delimiter: ';', skippedLines: 0 })
})
