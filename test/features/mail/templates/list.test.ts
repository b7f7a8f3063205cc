import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import type { TemplateQuery } from '../../../../src/features/mail/templates/list-templates.ts'
import {
  createTemplate,
  updateTemplate,
} from '../../../../src/features/mail/templates/templates.ts'
import type { Outbound } from '../../../../src/outbound/outbound.ts'
import { templates } from '../../../../src/store/schema/messages.ts'
import { anyCharacter } from '../../../any-character.ts'
import { addProject, address, openTestCore, type TestCore, trustDomain } from '../../../core.ts'
import { countTurns } from '../../../event-loop.ts'
import { cleanUpAfterFile } from '../../../file-cleanup.ts'
import { listTemplates } from '../../../lists.ts'
import { createReader } from './reader.ts'

const names = ['Überblick', 'apple', 'Banana', 'cherry 100%', 'date_x', 'ÉTÉ *special*', 'Δέλτα']

let core: TestCore & { outbound: Outbound }
let projectId: string
let otherId: string
const ids = new Map<string, string>()
const cleanup = cleanUpAfterFile()

before(async () => {
  core = { ...(await openTestCore(cleanup)), outbound: createReader().outbound }
  projectId = (await addProject(core)).id
  otherId = (await addProject(core)).id
  await trustDomain(core, projectId, 'shop.test')
  await trustDomain(core, otherId, 'other.test')
  for (const [index, name] of names.entries()) {
    core.clock.now += index === 3 ? 0 : 1000
    const { id } = await createTemplate(core, {
      projectId,
      name,
      description: index === 1 ? 'Rote FRÜCHTE' : null,
      subject: index === 2 ? 'Große Neuigkeiten' : 'subject',
      body: 'findme',
      from: address('a@shop.test'),
      type: index % 2 === 0 ? 'MARKETING' : 'TRANSACTIONAL',
    })
    ids.set(name, id)
  }
  const fields = { projectId: otherId, name: 'apple of others', subject: 's', body: 'b' }
  await createTemplate(core, { ...fields, from: address('a@other.test') })
})

const list = (query: Partial<TemplateQuery> = {}) => listTemplates(core, { projectId, ...query })
const namesOf = async (query: Partial<TemplateQuery>) =>
  (await list(query)).items.map(({ name }) => name)

/** Returns all names by following the cursor. */
async function follow(query: Partial<TemplateQuery>): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page = await list({ ...query, ...(cursor === null ? {} : { cursor }) })
    assert.equal(page.total, cursor === null ? names.length : 0)
    assert.equal(page.hasMore, page.cursor !== null)
    seen.push(...page.items.map(({ name }) => name))
    cursor = page.cursor
  } while (cursor !== null)
  return seen
}

test("a list has only the project's templates, newest first", async () => {
  const page = await list()
  assert.deepEqual(
    page.items.map(({ name }) => name),
    names.toReversed(),
  )
  assert.equal(page.total, names.length)
  assert.equal(page.cursor, null)
  assert.equal(page.hasMore, false)
  assert.equal((await list({ projectId: otherId })).total, 1)
})

for (const sort of ['name', 'createdAt', 'updatedAt'] as const) {
  for (const dir of ['asc', 'desc'] as const) {
    test(`pages and cursors by ${sort} ${dir} list the same templates, each once`, async () => {
      const all = await namesOf({ sort, dir })
      assert.equal(new Set(all).size, names.length)
      for (const limit of [1, 2, 3, 7, 100]) {
        assert.deepEqual(await follow({ sort, dir, limit }), all)
        const paged: string[] = []
        for (let page = 1; (page - 1) * limit < names.length; page += 1) {
          paged.push(...(await namesOf({ sort, dir, limit, page })))
        }
        assert.deepEqual(paged, all)
      }
    })
  }
}

test('names are sorted without regard to case', async () => {
  const sorted = await namesOf({ sort: 'name', dir: 'asc' })
  assert.deepEqual(sorted.slice(0, 4), ['apple', 'Banana', 'cherry 100%', 'date_x'])
})

test('a page after the last one is empty and has the total', async () => {
  assert.deepEqual(await list({ page: 50 }), { items: [], total: 7, cursor: null, hasMore: false })
})

const searches: [string, string[]][] = [
  ['APPLE', ['apple']],
  ['über', ['Überblick']],
  ['ÜBERBLICK', ['Überblick']],
  ['u\u0308ber', ['Überblick']],
  ['été', ['ÉTÉ *special*']],
  ['ΔΈΛΤΑ', ['Δέλτα']],
  ['früchte', ['apple']],
  ['GROßE neu', ['Banana']],
  ['100%', ['cherry 100%']],
  ['e_x', ['date_x']],
  ['*SPECIAL*', ['ÉTÉ *special*']],
  ['p*e', []],
  ['appl?', []],
  ['[a]pple', []],
  ['findme', []],
  ['  apple ', ['apple']],
]

for (const [search, found] of searches) {
  test(`a search for ${JSON.stringify(search)} finds ${found.join(', ') || 'nothing'}`, async () => {
    const page = await list({ search })
    assert.deepEqual(
      page.items.map(({ name }) => name),
      found,
    )
    assert.equal(page.total, found.length)
  })
}

test('a search finds every part of a name in any case, and never fails', async () => {
  const part = fc.tuple(fc.constantFrom(...names), fc.nat(12), fc.nat(12), fc.boolean())
  await fc.assert(
    fc.asyncProperty(part, async ([name, from, length, isUpper]) => {
      const piece = name.slice(from, from + length + 1)
      const search = isUpper ? piece.toUpperCase() : piece.toLowerCase()
      if (search.trim() !== '') assert.ok((await namesOf({ search })).includes(name))
    }),
    { numRuns: 60 },
  )
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: anyCharacter, maxLength: 30 }), async (search) => {
      await list({ search })
    }),
    { numRuns: 60 },
  )
})

test('the type filters and the total follows it', async () => {
  const page = await list({ type: 'TRANSACTIONAL', limit: 2 })
  assert.equal(page.items.length, 2)
  assert.equal(page.total, 3)
  assert.ok(page.items.every(({ type }) => type === 'TRANSACTIONAL'))
  assert.equal((await list({ type: 'HEADLESS' })).total, 0)
})

test("the id of a template is a cursor; garbage, another order and other projects' ids are not", async () => {
  const all = names.toReversed()
  const rest = await namesOf({ cursor: ids.get(all[2] ?? '') ?? '' })
  assert.deepEqual(rest, all.slice(3))
  const { cursor } = await list({ limit: 1 })
  const foreign = (await list({ projectId: otherId })).items[0]?.id ?? ''
  const refusal = { code: 'VALIDATION_ERROR', status: 422 }
  for (const bad of ['x', '', foreign, `${cursor}xxxx`, (cursor ?? '').slice(0, -18)]) {
    await assert.rejects(list({ cursor: bad }), refusal, bad)
  }
  await assert.rejects(list({ cursor: cursor ?? '', sort: 'name' }), refusal)
  await assert.rejects(list({ cursor: cursor ?? '', dir: 'asc' }), refusal)
})

test('a limit above 100 is 100; limits and pages below 1 are refused', async () => {
  const at = core.now()
  const row = { projectId: otherId, subject: 's', body: 'b', fromAddress: 'a@other.test' }
  const many = Array.from({ length: 101 }, (_, n) => ({ ...row, id: `n${n}`, name: `n${n}` }))
  await core.store.write((tx) =>
    tx
      .insert(templates)
      .values(many.map((each) => ({ ...each, fromDomain: 'o', createdAt: at, updatedAt: at }))),
  )
  const page = await list({ projectId: otherId, limit: 1000 })
  assert.equal(page.items.length, 100)
  assert.equal(page.total, 102)
  assert.equal((await list({ projectId: otherId })).items.length, 20)
  for (const query of [{ limit: 0 }, { limit: -1 }, { limit: 1.5 }, { page: 0 }, { page: NaN }]) {
    await assert.rejects(list(query), { code: 'VALIDATION_ERROR' }, JSON.stringify(query))
  }
  await assert.rejects(list({ search: 'x'.repeat(256) }), { code: 'VALIDATION_ERROR' })
})

test('a page after a template that an update has moved misses no other template', async () => {
  const first = await list({ sort: 'updatedAt', dir: 'desc', limit: 2 })
  core.clock.now += 1000
  const id = ids.get('apple') ?? ''
  await updateTemplate(core, { projectId, id, changes: { description: 'changed' } })
  const rest = await namesOf({ sort: 'updatedAt', dir: 'desc', cursor: first.cursor ?? '' })
  const seen = new Set([...first.items.map(({ name }) => name), ...rest, 'apple'])
  assert.equal(seen.size, names.length)
  assert.equal((await namesOf({ sort: 'updatedAt', dir: 'desc', limit: 1 }))[0], 'apple')
})

test('large bodies are read one by one; a page by cursor has few of them, one by number all', async () => {
  const { id } = await addProject(core)
  await trustDomain(core, id, 'large.test')
  const body = 'x'.repeat(1_999_999)
  const from = address('a@large.test')
  const made: string[] = []
  for (let index = 0; index < 8; index += 1) {
    const fields = { projectId: id, name: `t${index}`, subject: 's', body: `${body}${index}` }
    made.push((await createTemplate(core, { ...fields, from })).id)
  }
  const listing = listTemplates(core, { projectId: id, limit: 100, dir: 'asc' })
  const { result: first, turns } = await countTurns(listing)
  assert.deepEqual([first.items.length, first.hasMore, first.total], [1, true, 8])
  assert.ok(turns >= 1, `${turns} turns`)
  const asked = { projectId: id, limit: 100, dir: 'asc', cursor: first.cursor ?? '' } as const
  const second = await listTemplates(core, asked)
  const numbered = listTemplates(core, { projectId: id, limit: 100, page: 1, dir: 'asc' })
  const { result: all, turns: wholeTurns } = await countTurns(numbered)
  assert.deepEqual([all.items.length, all.hasMore], [8, false])
  assert.ok(wholeTurns >= 7, `${wholeTurns} turns`)
  assert.deepEqual(
    all.items.map((template) => template.id),
    made,
  )
  assert.ok(all.items.every(({ body: read }, index) => read === `${body}${index}`))
  const both = [...first.items, ...second.items].map((template) => template.id)
  assert.deepEqual(both, made.slice(0, 2))
})
