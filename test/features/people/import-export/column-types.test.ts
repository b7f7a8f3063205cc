/** Types belong to columns of an imported file. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { compileCondition } from '../../../../src/features/ground/conditions/compile.ts'
import { parseCondition } from '../../../../src/features/ground/conditions/condition.ts'
import { countContacts } from '../../../../src/features/people/contacts/list/count.ts'
import { exportContacts } from '../../../../src/features/people/import-export/export-contacts.ts'
import { createExportSlots } from '../../../../src/features/people/import-export/export-slots.ts'
import { importContacts } from '../../../../src/features/people/import-export/import-contacts.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { addContacts } from '../contacts/add-contacts.ts'
import { claim, importFile, listContacts, uploadFile } from './run-import.ts'

async function setUp(t: TestContext) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  return { core, projectId }
}

/** A file with one column `k`. */
function fileOf(cells: readonly string[], delimiter = ','): string {
  const rows = cells.map((cell, index) => `p${index}@dest.test${delimiter}${cell}\n`)
  return `email${delimiter}k\n${rows.join('')}`
}

type Column = {
  of: string
  cells: string[]
  values: unknown[]
  reason?: string | null
  warnings?: string[]
  /** What a contact of the project has. */
  known?: unknown
}

const columns: Column[] = [
  { of: 'numbers', cells: ['5', '-1.5', '', '0'], values: [5, -1.5, undefined, 0] },
  { of: 'booleans', cells: ['TRUE', 'yes', 'No', 'false'], values: [true, true, false, false] },
  { of: 'texts', cells: ['a', 'b'], values: ['a', 'b'] },
  { of: 'dates', cells: ['2026-01-31', '2026-02-01'], values: ['2026-01-31', '2026-02-01'] },
  {
    of: 'codes with leading zeros',
    cells: ['10115', '01067'],
    values: ['10115', '01067'],
    reason: '"01067" in line 3 would lose characters as a number',
  },
  {
    of: 'versions',
    cells: ['1.10', '2.0', '1.9'],
    values: ['1.10', '2.0', '1.9'],
    reason: '"1.10" in line 2 would lose characters as a number',
  },
  {
    of: 'numbers, one of them in quotes',
    cells: ['5', '"6"'],
    values: ['5', '6'],
    reason: '"6" in line 3 is in quotes',
  },
  {
    of: 'numbers and words',
    cells: ['5', 'n/a', '6'],
    values: ['5', 'n/a', '6'],
    reason: '"n/a" in line 3 is no number',
  },
  {
    of: 'numbers and booleans',
    cells: ['1', '0', 'yes'],
    values: ['1', '0', 'yes'],
    reason: '"yes" in line 4 is no number',
  },
  {
    of: 'booleans and a word',
    cells: ['yes', 'no', 'maybe'],
    values: ['yes', 'no', 'maybe'],
    reason: '"maybe" in line 4 is neither true nor false',
  },
  ...['+1', '1e5', '0x10', 'NaN', 'Infinity', '.5', '1,5', '1 000'].map((text) => ({
    of: `numbers and ${text}`,
    cells: ['5', `${text}`],
    values: ['5', text],
    reason: ['NaN', 'Infinity', '1,5', '1 000'].includes(text)
      ? `"${text}" in line 3 is no number`
      : `"${text}" in line 3 would lose characters as a number`,
  })),
  ...['9007199254740993', '12345678901234567890', '1e400'].map((text) => ({
    of: `${text}, which no number keeps`,
    cells: [text, '5'],
    values: [text, '5'],
    reason: `"${text}" in line 2 has more digits than a number keeps`,
    warnings: [
      `The column "data.k" is read as text: "${text}" in line 2 has more digits than a number keeps.`,
    ],
  })),
  {
    of: 'digits, where the project has texts',
    cells: ['5', '6'],
    known: '007',
    values: ['5', '6'],
    reason: 'other contacts have texts there',
  },
  { of: 'quoted numbers, where it has numbers', cells: ['"5"', '6'], known: 1, values: [5, 6] },
  { of: 'quoted booleans, where it has such', cells: ['"yes"'], known: true, values: [true] },
  {
    of: 'codes, where it has numbers',
    cells: ['5', '06'],
    known: 1,
    values: ['5', '06'],
    reason: '"06" in line 3 would lose characters as a number',
    warnings: [
      'The column "data.k" is read as text, though other contacts have a number there: "06" in line 3 would lose characters as a number.',
    ],
  },
  {
    of: 'numbers, where it has booleans',
    cells: ['1', '0'],
    known: true,
    values: ['1', '0'],
    reason: '"1" in line 2 is neither true nor false',
    warnings: [
      'The column "data.k" is read as text, though other contacts have a boolean there: "1" in line 2 is neither true nor false.',
    ],
  },
  { of: 'numbers, where it has lists', cells: ['1', '2'], known: [1], values: [1, 2] },
]

test('a column is of one type', async (t) => {
  const { core } = await setUp(t)
  for (const { of, cells, values, reason = null, warnings = [], known } of columns) {
    for (const delimiter of [';', '\t']) {
      const { id: projectId } = await addProject(core)
      if (known !== undefined) {
        await addContacts(core, projectId, [{ email: 'known@dest.test', data: { k: known } }])
      }
      const result = await importFile(core, `\ufeff${fileOf(cells, delimiter)}`, { projectId })
      const people = await listContacts(core, projectId)
      const read = people.slice(known === undefined ? 0 : 1).map(({ data }) => data?.k)
      assert.deepEqual(read, values, of)
      const [first] = values
      const type = typeof first === 'string' ? 'text' : typeof first
      assert.deepEqual(result.columns, [{ field: 'data.k', type, reason }], of)
      assert.deepEqual(result.warnings, warnings, of)
    }
  }
})

test('a code is found by its text, however its row spells it', async (t) => {
  const { core, projectId } = await setUp(t)
  const file =
    'email,zip,version\na@example.org,01067,1.10\nb@example.org,10115,2.0\nc@example.org,"10115",1.9\n'
  await importFile(core, file, { projectId })
  const count = async (field: string, value: string) => {
    const filters = [{ field, operator: 'equals', value }]
    const condition = parseCondition({ logic: 'AND', groups: [{ filters }] }, 'condition')
    const expression = await compileCondition(core, { projectId, condition })
    return countContacts(core, { projectId, condition: expression })
  }
  assert.equal(await count('data.zip', '10115'), 2)
  assert.equal(await count('data.zip', '01067'), 1)
  assert.equal(await count('data.version', '1.10'), 1)
})

/** An export with one column `k`, as spreadsheet programs save it: without quotes that are not needed. */
function savedExport(cells: readonly string[]): string {
  const rows = cells.map((cell, index) => `,p${index}@dest.test,true,,,${cell}\n`)
  return `id,email,subscribed,createdAt,updatedAt,data.k\n${rows.join('')}`
}

const lossy = (text: string, line: number) =>
  `"${text}" in line ${line} would lose characters as a number`
const readAsText = (reason: string) => [`The column "data.k" is read as text: ${reason}.`]

const saved: (Column & { type: string; others?: unknown[] })[] = [
  {
    of: 'codes, where the project has texts',
    ...{ cells: ['10115', '20095'], values: ['10115', '20095'], others: ['01067', '2026-01-31'] },
    ...{ type: 'text', reason: 'other contacts have texts there' },
  },
  {
    of: 'texts and numbers, where it has both',
    ...{ cells: ['10115', 'x'], values: [10115, 'x'], others: ['01067', 'y', 1], type: 'mixed' },
  },
  {
    of: 'words and booleans, where it has texts',
    ...{ cells: ['true', ' x'], values: ['true', ' x'], others: ['y'] },
    ...{ type: 'text', reason: 'other contacts have texts there' },
  },
  {
    of: 'booleans in other letters, where it has booleans',
    ...{ cells: ['True', 'FALSE'], values: [true, false], others: [true], type: 'boolean' },
  },
  ...['01067', '1.10', '12345678901234567890', '1e400', '5.0'].map((text) => ({
    of: `a number and ${text}`,
    ...{ cells: ['5', text], values: ['5', text] },
    ...{ type: 'text', reason: lossy(text, 3), warnings: readAsText(lossy(text, 3)) },
  })),
  {
    of: 'a number that was added where texts are still in quotes',
    ...{ cells: ['"10115"', '5', '1.10'], values: ['10115', 5, '1.10'], type: 'mixed' },
    warnings: [`The column "data.k" has texts among its numbers: ${lossy('1.10', 4)}.`],
  },
  {
    of: 'lists',
    ...{ cells: ['[1]', '5'], values: [[1], 5], others: ['y'], type: 'mixed' },
  },
  { of: 'numbers', cells: ['1e+21', '-0.5', ''], values: [1e21, -0.5, undefined], type: 'mixed' },
]

test('an export that another program saved keeps texts and the types of the project', async (t) => {
  const { core } = await setUp(t)
  for (const { of, cells, values, others = [], reason = null, warnings = [], type } of saved) {
    const { id: projectId } = await addProject(core)
    const known = others.map((k, index) => ({ email: `known${index}@dest.test`, data: { k } }))
    await addContacts(core, projectId, known)
    const result = await importFile(core, savedExport(cells), { projectId })
    const people = (await listContacts(core, projectId)).slice(known.length)
    assert.deepEqual(
      people.map(({ data }) => data?.k),
      values,
      of,
    )
    assert.deepEqual(result.columns, [{ field: 'data.k', type, reason }], of)
    assert.deepEqual(result.warnings, warnings, of)
  }
})

test('a resumed import keeps the types, though its rows changed those of the project', async (t) => {
  const { core, projectId } = await setUp(t)
  const cells = Array.from({ length: 200 }, (_, index) => String(index))
  await uploadFile(core, fileOf([...cells, 'last']), { projectId })
  let ms = 0
  t.mock.method(performance, 'now', () => (ms += 10))
  let writes = 0
  const write: typeof core.store.write = (fn, options) => {
    writes += 1
    if (writes > 2) throw new Error('dead')
    return core.store.write(fn, options)
  }
  const mortal = { ...core, store: { ...core.store, write } }
  await assert.rejects(importContacts(mortal, await claim(core)), /dead/)
  const made = (await listContacts(core, projectId)).length
  assert.ok(made > 0 && made < 200)
  // Most contacts of the project have numbers now.
  const others = Array.from({ length: 300 }, (_, index) => `other${index}@dest.test`)
  await addContacts(
    core,
    projectId,
    others.map((email) => ({ email, data: { k: 1 } })),
  )
  core.clock.now += 61_000
  const result = await importContacts(core, await claim(core))
  assert.deepEqual(result.columns, [
    { field: 'data.k', type: 'text', reason: '"last" in line 202 is no number' },
  ])
  const own = (await listContacts(core, projectId)).filter(({ address }) => address.startsWith('p'))
  assert.deepEqual(new Set(own.map(({ data }) => typeof data?.k)), new Set(['string']))
  assert.equal(own.length, 201)
})

const value = fc.oneof(
  fc.constantFrom<unknown>('01067', '10115', '1.10', 'yes', 'TRUE', '5', '1e400', '', ' a ', '=1'),
  fc.constantFrom<unknown>('2026-01-31', 'NaN', "'", '"', '[1]', 'x\ny', 'é😀', '9007199254740993'),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0 || 0),
  fc.boolean(),
  fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer()), { maxLength: 3 }),
)
const data = fc.dictionary(fc.constantFrom('zip', 'K', 'a.b', 'tags', ' x', 'locale2'), value, {
  minKeys: 1,
  noNullPrototype: true,
})

test('an export that is imported gives the same data', async (t) => {
  const { core } = await setUp(t)
  const check = fc.asyncProperty(fc.array(data, { minLength: 1, maxLength: 5 }), async (all) => {
    const [from, to] = [await addProject(core), await addProject(core)]
    const people = all.map((each, index) => ({
      email: `p${index}@dest.test`,
      // No path stores an empty text.
      data: Object.fromEntries(Object.entries(each).filter(([, one]) => one !== '')),
    }))
    await addContacts(core, from.id, people)
    const deps = { ...core, slots: createExportSlots() }
    const pieces: Uint8Array[] = []
    const exported = await exportContacts(deps, { projectId: from.id, hasMark: all.length > 2 })
    for await (const piece of exported) pieces.push(piece)
    const before = await listContacts(core, from.id)
    for (const { id: projectId } of [to, from]) {
      const result = await importFile(core, Buffer.concat(pieces), { projectId })
      assert.deepEqual(result.warnings, [])
    }
    assert.deepEqual(await listContacts(core, from.id), before)
    const after = await listContacts(core, to.id)
    assert.deepEqual(
      after,
      before.map((person) =>
        Object.keys(person.data ?? {}).length > 0 ? person : { ...person, data: null },
      ),
    )
  })
  await fc.assert(check, { numRuns: 12 })
})
