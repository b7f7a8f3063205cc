import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { parseCondition } from '../../../src/features/conditions/condition.ts'
import { saveContact } from '../../../src/features/contacts/save.ts'
import { type ExportQuery, exportContacts } from '../../../src/features/imports/export.ts'
import { newId } from '../../../src/store/ids.ts'
import { addProject, address, openWorld, type World } from '../world.ts'
import { importFile, listPeople } from './desk.ts'

async function setUp(t: TestContext) {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const add = (email: string, data: unknown, subscribed = true) =>
    saveContact(world, { projectId, address: address(email), subscribed, data })
  return { world, projectId, add }
}

async function exported(world: World, query: ExportQuery): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of await exportContacts(world, query)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test('contacts are written with a column for each key in use', async (t) => {
  const { world, projectId, add } = await setUp(t)
  const { contact } = await add('ada@dest.test', { plan: 'pro', age: 36, tags: ['a', 'b'] })
  await add('bob@dest.test', { city: 'Oslo, "the" town' }, false)
  const lines = (await exported(world, { projectId })).split('\r\n')
  const at = new Date(world.clock.at).toISOString()
  assert.equal(
    lines[0],
    'id,email,subscribed,createdAt,updatedAt,data.age,data.city,data.plan,data.tags',
  )
  assert.equal(lines[1], `${contact.id},ada@dest.test,true,${at},${at},36,,pro,"[""a"",""b""]"`)
  assert.match(lines[2] ?? '', /,bob@dest\.test,false,.*,,"Oslo, ""the"" town",,$/)
  assert.deepEqual(lines.slice(3), [''])
})

test('S23: no cell of an export runs as a formula', async (t) => {
  const { world, projectId, add } = await setUp(t)
  await add('+sum@dest.test', {
    note: '=HYPERLINK("http://x")',
    '=key': '@x',
    plus: '+1',
    less: -1,
    parts: 'a;=1+1',
  })
  const csv = await exported(world, { projectId })
  assert.match(csv, /,'\+sum@dest\.test,/)
  assert.match(csv, /,"'=HYPERLINK\(""http:\/\/x""\)"/)
  assert.match(csv, /,data\.=key,/)
  assert.match(csv, /,'@x,-1,/)
  assert.match(csv, /,"a;=1\+1"/, 'nor where a semicolon divides fields')
  assert.doesNotMatch(csv, /(?:^|,)"?[=+@\t]/m)
})

test('a mark goes before the file where it is asked for', async (t) => {
  const { world, projectId } = await setUp(t)
  const query = { projectId }
  assert.equal((await exported(world, query)).charCodeAt(0), 'i'.charCodeAt(0))
  assert.equal((await exported(world, { ...query, hasMark: true })).charCodeAt(0), 0xfeff)
})

test('only those are written that all of the query is true of, of that project', async (t) => {
  const { world, projectId, add } = await setUp(t)
  await add('ada@dest.test', { plan: 'pro' })
  await add('ann@dest.test', { plan: 'free' })
  await add('abe@dest.test', { plan: 'pro' }, false)
  await add('bob@other.test', { plan: 'pro' })
  const stranger = await addProject(world, 'Other')
  const one = { projectId: stranger.id, address: address('ada@dest.test') }
  await saveContact(world, { ...one, data: { secret: 'x' } })
  const filters = [{ field: 'data.plan', operator: 'equals', value: 'pro' }]
  const condition = parseCondition({ logic: 'AND', groups: [{ filters }] }, 'filter')
  const search = 'dest'
  const names = async (query: Partial<ExportQuery>) =>
    [...(await exported(world, { projectId, ...query })).matchAll(/,(\w+)@/g)].map(
      ([, name]) => name,
    )
  assert.deepEqual((await names({})).sort(), ['abe', 'ada', 'ann', 'bob'])
  assert.deepEqual(await names({ search, condition, subscribed: true }), ['ada'])
  assert.deepEqual((await names({ condition })).sort(), ['abe', 'ada', 'bob'])
  assert.deepEqual(await names({ subscribed: false }), ['abe'])
  assert.doesNotMatch(await exported(world, { projectId }), /secret/)
  await assert.rejects(exportContacts(world, { projectId, segmentId: newId() }), {
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

test('what is exported and imported elsewhere is the same people with the same data', async (t) => {
  const { world } = await setUp(t)
  const data = fc.dictionary(key, value, { maxKeys: 6 })
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(data, fc.boolean()), { minLength: 1, maxLength: 4 }),
      async (people) => {
        const from = await addProject(world, `from ${run}`)
        const into = await addProject(world, `into ${run}`)
        run += 1
        for (const [at, [given, subscribed]] of people.entries()) {
          const email = address(`${["'", '=', '-', '{'][at]}p${at}@dest.test`)
          await saveContact(world, { projectId: from.id, address: email, subscribed, data: given })
        }
        const result = await importFile(world, await exported(world, { projectId: from.id }), {
          projectId: into.id,
        })
        assert.equal(result.createdCount, people.length, JSON.stringify(result.errors))
        assert.deepEqual(await listPeople(world, into.id), await listPeople(world, from.id))
      },
    ),
    { numRuns: 15 },
  )
})
