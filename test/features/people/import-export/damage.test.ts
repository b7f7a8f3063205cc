/** What an import could not take as it is, it counts and names. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { importSuppressions } from '../../../../src/features/mail/suppressions/import-suppressions.ts'
import { importContacts } from '../../../../src/features/people/import-export/import-contacts.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { suppressions } from '../../../../src/store/schema/suppressions.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { claim, importFile, listContacts, uploadFile } from './run-import.ts'

const NONE = { guessedRows: 0, replacedCharacters: 0, droppedCells: 0, cutFields: 0 }

async function setUp(t: TestContext) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const run = async (
    file: string | Uint8Array,
    given: { mapping?: [string, string | null][] } = {},
  ) => {
    const { damage, warnings } = await importFile(core, file, { projectId, ...given })
    const people = await listContacts(core, projectId)
    return { damage, warnings, data: people.map((person) => person.data) }
  }
  return { core, projectId, run }
}

const bytes = (...parts: (string | number)[]) =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))),
  )

test('one bad byte costs one cell, and a warning names the line', async (t) => {
  const { run } = await setUp(t)
  const file = bytes(
    ...['email,name,city\nada@example.org,Äda,Zürich\nbob@example.org,', 0xff, 'x,b\n'],
    ...['cyd@example.org,Ýda,Łódź\n'],
  )
  assert.deepEqual(await run(file), {
    damage: { ...NONE, guessedRows: 1 },
    warnings: ['1 row is no UTF-8 and was read as Windows-1252, which is a guess: line 3.'],
    data: [
      { name: 'Äda', city: 'Zürich' },
      { name: 'ÿx', city: 'b' },
      { name: 'Ýda', city: 'Łódź' },
    ],
  })
})

test('a bad byte in a row with other characters is replaced', async (t) => {
  const { run } = await setUp(t)
  const file = bytes('email,name,city\na@dest.test,Zo', 0xff, 0xeb, ',Zürich\nb@dest.test,Zoë,x\n')
  assert.deepEqual(await run(file), {
    damage: { ...NONE, replacedCharacters: 2 },
    warnings: ['2 characters could not be read and became U+FFFD: line 2.'],
    data: [
      { name: 'Zo\ufffd\ufffd', city: 'Zürich' },
      { name: 'Zoë', city: 'x' },
    ],
  })
})

test('a whole file of Windows-1252 is read, header and all, and said to be a guess', async (t) => {
  const { run } = await setUp(t)
  const rows = Array.from({ length: 14 }, (_, index) => `p${index}@dest.test;Zo\xeb\r\n`)
  const file = Buffer.from(`Adresse \xe9lectronique;pr\xe9nom\r\n${rows.join('')}`, 'latin1')
  const { damage, warnings, data } = await run(file)
  assert.deepEqual(damage, { ...NONE, guessedRows: 15 })
  assert.deepEqual(warnings, [
    '15 rows are no UTF-8 and were read as Windows-1252, which is a guess: lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 5 more.',
  ])
  assert.equal(data.length, 14)
  for (const each of data) assert.deepEqual(each, { prénom: 'Zoë' })
})

test('UTF-16 without a mark is a guess, and half a pair is replaced', async (t) => {
  const { run } = await setUp(t)
  const text = 'email,name\na@dest.test,Zoë\nb@dest.test,x\ud800\n'
  const { damage, warnings, data } = await run(Buffer.from(text, 'utf16le'))
  assert.deepEqual(damage, { ...NONE, replacedCharacters: 1 })
  assert.deepEqual(warnings, [
    'The file has no byte order mark and was read as UTF-16LE, which is a guess.',
    '1 character could not be read and became U+FFFD: line 3.',
  ])
  assert.deepEqual(data, [{ name: 'Zoë' }, { name: 'x\ufffd' }])
  const marked = await run(Buffer.from(`\ufeff${text.replace('\ud800', '')}`, 'utf16le'))
  assert.deepEqual([marked.damage, marked.warnings], [NONE, []])
})

test('cells in no column, in one without a name or with a reserved one are counted', async (t) => {
  const { run } = await setUp(t)
  const file =
    'email,plan,,id,note\na@dest.test,pro,x,7,,more,\nb@dest.test,pro,,,n\nc@dest.test,pro,y\n'
  const { damage, warnings, data } = await run(file, { mapping: [['note', null]] })
  assert.deepEqual(damage, { ...NONE, droppedCells: 3 })
  assert.deepEqual(warnings, [
    'The column "id" is left out: contacts have no such data.',
    '3 cells are left out, because their columns have no name: lines 2, 4.',
  ])
  assert.deepEqual(data, [{ plan: 'pro' }, { plan: 'pro' }, { plan: 'pro' }])
})

test('an undamaged file has no damage', async (t) => {
  const { run } = await setUp(t)
  const { damage, warnings } = await run('\ufeffemail,name\r\na@dest.test,Zoë 😀 \ufffd\r\n')
  assert.deepEqual([damage, warnings], [NONE, []])
})

test('an import of suppressions says what it guessed and what it cut', async (t) => {
  const { core, projectId } = await setUp(t)
  const long = 'y'.repeat(201)
  const rows = [
    'email,reason,',
    'a@dest.test,Zo',
    0xeb,
    `,\nb@dest.test,${long},z\nc@dest.test,spam`,
  ]
  await uploadFile(core, bytes(rows[0] as string, '\n', ...rows.slice(1)), {
    kind: 'suppressions-import',
    projectId,
  })
  const result = await importSuppressions(core, await claim(core, 'suppressions-import'))
  assert.deepEqual(result.damage, { ...NONE, guessedRows: 1, droppedCells: 1, cutFields: 1 })
  assert.deepEqual(result.warnings, [
    '1 row is no UTF-8 and was read as Windows-1252, which is a guess: line 2.',
    '1 cell is left out, because its column has no name: line 3.',
    '1 value was too long and is shortened: line 3.',
  ])
  const found = await core.store.read.select().from(suppressions).orderBy(sql`email`)
  assert.deepEqual(
    found.map(({ source }) => source),
    ['import: Zoë', `import: ${'y'.repeat(200)}`, 'import'],
  )
})

test('warnings of damage survive a crash, and are there before the last row', async (t) => {
  const { core, projectId } = await setUp(t)
  const rows = Array.from({ length: 200 }, (_, index) => `p${index}@dest.test,x\n`).join('')
  await uploadFile(core, bytes(`email,name\n${rows}z@dest.test,`, 0xff, '\n'), { projectId })
  let ms = 0
  t.mock.method(performance, 'now', () => (ms += 10))
  let writes = 0
  const write: typeof core.store.write = (fn, options) => {
    writes += 1
    if (writes > 1) throw new Error('dead')
    return core.store.write(fn, options)
  }
  const mortal = { ...core, store: { ...core.store, write } }
  await assert.rejects(importContacts(mortal, await claim(core)), /dead/)
  core.clock.now += 61_000
  const { damage, warnings, totalRows } = await importContacts(core, await claim(core))
  assert.deepEqual(damage, { ...NONE, guessedRows: 1 })
  assert.deepEqual(warnings, [
    '1 row is no UTF-8 and was read as Windows-1252, which is a guess: line 202.',
  ])
  assert.equal(totalRows, 201)
})
