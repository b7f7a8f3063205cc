import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { parseCondition } from '../../../../src/features/ground/conditions/condition.ts'
import { upsertContact } from '../../../../src/features/people/contacts/write/contact-queue.ts'
import {
  writeRecord,
  writeSparseRecord,
} from '../../../../src/features/people/import-export/csv/writer.ts'
import {
  type ExportQuery,
  exportContacts,
} from '../../../../src/features/people/import-export/export-contacts.ts'
import {
  createExportSlots,
  type ExportSlots,
} from '../../../../src/features/people/import-export/export-slots.ts'
import { newId } from '../../../../src/store/ids.ts'
import { addProject, address, openTestCore, type TestCore } from '../../../core.ts'
import { importFile, listContacts } from './run-import.ts'

async function setUp(t: TestContext) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const add = (email: string, data: unknown, subscribed = true) =>
    upsertContact(core, { projectId, address: address(email), subscribed, data })
  return { core, projectId, add }
}

function openExport(
  core: Pick<TestCore, 'store' | 'now'>,
  query: ExportQuery,
  slots = createExportSlots(),
) {
  return exportContacts({ ...core, slots }, query)
}

async function exported(core: TestCore, query: ExportQuery): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of await openExport(core, query)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test('contacts are written with a column for each key in use', async (t) => {
  const { core, projectId, add } = await setUp(t)
  const { contact } = await add('ada@dest.test', { plan: 'pro', age: 36, tags: ['a', 'b'] })
  await add('bob@dest.test', { city: 'Oslo, "the" town' }, false)
  const lines = (await exported(core, { projectId })).split('\r\n')
  const at = new Date(core.clock.now).toISOString()
  assert.equal(
    lines[0],
    'id,email,subscribed,createdAt,updatedAt,data.age,data.city,data.plan,data.tags',
  )
  assert.equal(lines[1], `${contact.id},ada@dest.test,true,${at},${at},36,,pro,"[""a"",""b""]"`)
  assert.match(lines[2] ?? '', /,bob@dest\.test,false,.*,,"Oslo, ""the"" town",,$/)
  assert.deepEqual(lines.slice(3), [''])
})

test('contacts that take long to write arrive piece by piece, with other work in between', async (t) => {
  const { core, projectId, add } = await setUp(t)
  const people = ['ada', 'bob', 'eve'].map((name) => `${name}@dest.test`)
  for (const email of people) await add(email, null)
  const file = await openExport(core, { projectId })
  let at = 0
  t.mock.method(performance, 'now', () => (at += 10))
  const pieces: string[] = []
  let turns = 0
  for await (const piece of file) {
    pieces.push(Buffer.from(piece).toString())
    setImmediate(() => (turns += 1))
  }
  const emails = pieces.slice(1).map((piece) => piece.split(',')[1])
  assert.deepEqual(emails, people)
  assert.ok(turns >= people.length)
})

test('other work runs between two pages, however fast they arrive', async (t) => {
  const { core, projectId, add } = await setUp(t)
  // The first page has 50.
  await Promise.all(Array.from({ length: 51 }, (_, at) => add(`p${at}@dest.test`, null)))
  // Its answers need no turn of the event loop, as those of threads that answer in a crowd.
  const store = { ...core.store, scan: core.store.read }
  const turns: number[] = []
  let count = 0
  for await (const _ of await openExport({ ...core, store }, { projectId })) {
    turns.push(count)
    setImmediate(() => (count += 1))
  }
  // A slow machine divides a page into more pieces.
  assert.ok(turns.length >= 3)
  assert.deepEqual(
    turns,
    turns.map((_, at) => at),
  )
})

test('S23: no cell of an export runs as a formula', async (t) => {
  const { core, projectId, add } = await setUp(t)
  await add('+sum@dest.test', {
    note: '=HYPERLINK("http://x")',
    '=key': '@x',
    plus: '+1',
    less: -1,
    parts: 'a;=1+1',
  })
  const csv = await exported(core, { projectId })
  assert.match(csv, /,'\+sum@dest\.test,/)
  assert.match(csv, /,"'=HYPERLINK\(""http:\/\/x""\)"/)
  assert.match(csv, /,data\.=key,/)
  assert.match(csv, /,'@x,-1,/)
  assert.match(csv, /,"a;=1\+1"/, 'nor where a semicolon divides fields')
  assert.doesNotMatch(csv, /(?:^|,)"?[=+@\t]/m)
})

test('the file starts with a byte order mark on request', async (t) => {
  const { core, projectId } = await setUp(t)
  const query = { projectId }
  assert.equal((await exported(core, query)).charCodeAt(0), 'i'.charCodeAt(0))
  assert.equal((await exported(core, { ...query, hasMark: true })).charCodeAt(0), 0xfeff)
})

test('only contacts of the project that match the whole query are exported', async (t) => {
  const { core, projectId, add } = await setUp(t)
  await add('ada@dest.test', { plan: 'pro' })
  await add('ann@dest.test', { plan: 'free' })
  await add('abe@dest.test', { plan: 'pro' }, false)
  await add('bob@other.test', { plan: 'pro' })
  const otherProject = await addProject(core, 'Other')
  const one = { projectId: otherProject.id, address: address('ada@dest.test') }
  await upsertContact(core, { ...one, data: { secret: 'x' } })
  const filters = [{ field: 'data.plan', operator: 'equals', value: 'pro' }]
  const condition = parseCondition({ logic: 'AND', groups: [{ filters }] }, 'filter')
  const search = 'dest'
  const names = async (query: Partial<ExportQuery>) =>
    [...(await exported(core, { projectId, ...query })).matchAll(/,(\w+)@/g)].map(
      ([, name]) => name,
    )
  assert.deepEqual((await names({})).sort(), ['abe', 'ada', 'ann', 'bob'])
  assert.deepEqual(await names({ search, condition, subscribed: true }), ['ada'])
  assert.deepEqual((await names({ condition })).sort(), ['abe', 'ada', 'bob'])
  assert.deepEqual(await names({ subscribed: false }), ['abe'])
  assert.doesNotMatch(await exported(core, { projectId }), /secret/)
  await assert.rejects(openExport(core, { projectId, segmentId: newId() }), {
    code: 'RESOURCE_NOT_FOUND',
  })
})

const key = fc.string({ minLength: 1, maxLength: 8 }).map((text) => `k${text}`)
const value = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.string({ unit: fc.constantFrom("'", '=', ' ', '\r', '\n', '"', ',', '-', '1'), minLength: 1 }),
  fc.constantFrom('true', 'no', '5', '-5', '007', '1e5', '{}', '[1]', "'[1]", '  '),
  fc.integer(),
  fc.boolean(),
  fc.array(fc.integer(), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'b'), fc.string(), { maxKeys: 2 }),
)

test('an export imported into another project creates the same contacts with the same data', async (t) => {
  const { core } = await setUp(t)
  const data = fc.dictionary(key, value, { maxKeys: 6 })
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(data, fc.boolean()), { minLength: 1, maxLength: 4 }),
      async (people) => {
        const from = await addProject(core, `from ${run}`)
        const into = await addProject(core, `into ${run}`)
        run += 1
        for (const [at, [given, subscribed]] of people.entries()) {
          const email = address(`${["'", '=', '-', '{'][at]}p${at}@dest.test`)
          await upsertContact(core, { projectId: from.id, address: email, subscribed, data: given })
        }
        const result = await importFile(core, await exported(core, { projectId: from.id }), {
          projectId: into.id,
        })
        assert.equal(result.createdCount, people.length, JSON.stringify(result.errors))
        assert.deepEqual(await listContacts(core, into.id), await listContacts(core, from.id))
      },
    ),
    { numRuns: 15 },
  )
})

test('a piece has a bounded size, however fast it is written', async (t) => {
  const { core, projectId, add } = await setUp(t)
  const note = 'x'.repeat(60_000)
  for (let at = 0; at < 40; at += 1) await add(`p${at}@dest.test`, { note })
  const file = await openExport(core, { projectId })
  t.mock.method(performance, 'now', () => 0)
  const sizes: number[] = []
  for await (const { length } of file) sizes.push(length)
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) > 40 * note.length)
  assert.ok(
    sizes.every((size) => size < 1.1 * 1024 * 1024),
    String(sizes),
  )
})

/** That the only place of the slots is taken, or free. */
async function assertPlace(slots: ExportSlots, isTaken: boolean): Promise<void> {
  if (isTaken) assert.throws(() => slots.take('other'), { code: 'RATE_LIMIT_EXCEEDED' })
  else slots.take('other')()
}

const ends: [name: string, end: (iterator: AsyncIterator<Uint8Array>) => Promise<unknown>][] = [
  [
    'that is read to its end',
    async (iterator) => {
      for (let next = await iterator.next(); !next.done; ) next = await iterator.next()
    },
  ],
  [
    'that is given up half-way',
    async (iterator) => {
      await iterator.next()
      await iterator.next()
      await iterator.return?.()
    },
  ],
  ['that nobody began to read', async (iterator) => iterator.return?.()],
]

for (const [name, end] of ends) {
  test(`an export ${name} holds its slot until then, and no longer`, async (t) => {
    const { core, projectId, add } = await setUp(t)
    await add('ada@dest.test', { plan: 'pro' })
    const slots = createExportSlots({ perProject: 1, all: 1 })
    const file = await openExport(core, { projectId }, slots)
    await assertPlace(slots, true)
    await end(file[Symbol.asyncIterator]())
    await assertPlace(slots, false)
  })
}

test('an export that fails, before it starts or later, releases its slot', async (t) => {
  const { core, projectId, add } = await setUp(t)
  await add('ada@dest.test', null)
  const slots = createExportSlots({ perProject: 1, all: 1 })
  await assert.rejects(openExport(core, { projectId, segmentId: newId() }, slots), {
    code: 'RESOURCE_NOT_FOUND',
  })
  await assertPlace(slots, false)
  const scan = {
    list: core.store.scan.list.bind(core.store.scan),
    values: async () => {
      throw new Error('the disk is gone')
    },
  } as unknown as TestCore['store']['scan']
  const file = await openExport({ ...core, store: { ...core.store, scan } }, { projectId }, slots)
  await assertPlace(slots, true)
  const read = async () => {
    for await (const _ of file);
  }
  await assert.rejects(read(), /the disk is gone/)
  await assertPlace(slots, false)
})

test('an export that is abandoned during a scan holds its slot until the scan has ended', async (t) => {
  const { core, projectId, add } = await setUp(t)
  await add('ada@dest.test', null)
  const { promise: isFree, resolve: free } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const { scan: real } = core.store
  const scan = {
    list: real.list.bind(real),
    values: async (query: Parameters<typeof real.values>[0]) => {
      begin()
      await isFree
      return real.values(query)
    },
  } as unknown as TestCore['store']['scan']
  const slots = createExportSlots({ perProject: 1, all: 1 })
  const file = await openExport({ ...core, store: { ...core.store, scan } }, { projectId }, slots)
  const iterator = file[Symbol.asyncIterator]()
  await iterator.next()
  const next = iterator.next()
  await begun
  const left = iterator.return?.()
  await assertPlace(slots, true)
  free()
  await next
  await left
  await assertPlace(slots, false)
})

test('nothing starts without a slot', async (t) => {
  const { core, projectId } = await setUp(t)
  const slots = createExportSlots({ perProject: 0, all: 1 })
  const untouched = new Proxy({} as TestCore['store'], {
    get: (_target, name) => assert.fail(`store.${String(name)} was used`),
  })
  const query = { projectId, segmentId: newId() }
  await assert.rejects(openExport({ ...core, store: untouched }, query, slots), {
    code: 'RATE_LIMIT_EXCEEDED',
  })
})

test('a sparse row equals the row with all its empty cells', () => {
  const cells = fc.array(fc.constantFrom('', '', 'a', ',', '"b"'), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(cells, (row) => {
      const placed = row.map((cell, at) => ({ at, cell })).filter(({ cell }) => cell !== '')
      assert.equal(writeSparseRecord(placed, row.length), writeRecord(row))
    }),
  )
})
