import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import type { Condition } from '../../../../../src/features/ground/conditions/condition.ts'
import type { ContactQuery } from '../../../../../src/features/people/contacts/list/contact-list.ts'
import { countContacts } from '../../../../../src/features/people/contacts/list/count.ts'
import { findSource } from '../../../../../src/features/people/contacts/list/search.ts'
import { indexBatch } from '../../../../../src/features/people/contacts/list/search-index.ts'
import { walkContacts } from '../../../../../src/features/people/contacts/list/walk.ts'
import { inArray, sql } from '../../../../../src/store/drizzle.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { addProject, openTestCore, type TestCore } from '../../../../core.ts'
import { cleanUpAfterFile } from '../../../../file-cleanup.ts'
import { listContacts } from '../../../../lists.ts'
import { addContacts, PRETENDED, pretendLarge } from '../add-contacts.ts'

type Row = { id: string; email: string; subscribed: boolean; data: Record<string, unknown> | null }

const cleanup = cleanUpAfterFile()
let core: TestCore
let small: string
let large: string
/** Of either project, in the order of creation. */
const rows: Record<string, Row[]> = {}

/** Names that share parts, in one, two and three-letter ways, in several scripts. */
const names = ['ada', 'adam', 'bob', 'o"hara', "d'arc", '100%_off', 'né', 'müller', 'x-y', 'ab']
const hosts = ['gmail.com', 'mail.example', 'münchen.example', 'a.test']

before(async () => {
  core = await openTestCore(cleanup)
  small = (await addProject(core, 'Small')).id
  large = (await addProject(core, 'Large')).id
  for (const projectId of [small, large]) await fill(projectId)
  while (await indexBatch(core));
  for (const projectId of [small, large]) await disturb(projectId)
  await pretendLarge(core, large)
})

async function fill(projectId: string): Promise<void> {
  const people = Array.from({ length: 120 }, (_, at) => ({
    email: `${names[at % 10]}${at % 17}@${hosts[at % 4]}`.toLowerCase(),
    subscribed: at % 3 > 0,
    data: { plan: at % 5 === 0 ? 'pro' : 'free' },
  }))
  const unique = [...new Map(people.map((person) => [person.email, person])).values()]
  const ids = await addContacts(core, projectId, unique)
  rows[projectId] = unique.map((person, at) => ({ ...person, id: ids[at] ?? '' }))
}

/** Deletes, changes and adds contacts after the index was filled; stale entries must not show. */
async function disturb(projectId: string): Promise<void> {
  const list = rows[projectId] ?? []
  const gone = list.filter((_, at) => at % 11 === 0).map(({ id }) => id)
  const moved = list.filter((_, at) => at % 13 === 1)
  for (const row of moved) row.email = `moved.${row.email}`
  await core.store.write(async (tx) => {
    await tx.delete(contacts).where(inArray(contacts.id, gone))
    for (const { id, email } of moved) {
      await tx.update(contacts).set({ address: email }).where(sql`id = ${id}`)
    }
  })
  const late = [{ email: 'late.ada@gmail.com', subscribed: false, data: { plan: 'pro' } }]
  const [id = ''] = await addContacts(core, projectId, late)
  rows[projectId] = [
    ...list.filter((row) => !gone.includes(row.id)),
    ...late.map((row) => ({ ...row, id })),
  ]
}

const isPro: Condition = {
  logic: 'AND',
  groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
}

type Case = Required<Pick<ContactQuery, 'sort' | 'dir' | 'limit'>> &
  Pick<ContactQuery, 'search' | 'subscribed' | 'condition' | 'projectId'>

function expected(query: Case): string[] {
  const { projectId, search = '', subscribed, condition, sort, dir } = query
  const part = search.trim().toLowerCase()
  const matching = (rows[projectId] ?? []).filter(
    (row) =>
      row.email.includes(part) &&
      (subscribed === undefined || row.subscribed === subscribed) &&
      (condition === undefined || row.data?.plan === 'pro'),
  )
  const bytes = (row: Row) => Buffer.from(row.email)
  if (sort === 'email') matching.sort((one, two) => bytes(one).compare(bytes(two)))
  return (dir === 'asc' ? matching : matching.reverse()).map(({ email }) => email)
}

/** How many more the counters of the project have, where these are the answer. */
function pretended(query: Partial<Case>): number {
  const { projectId, search = '', subscribed = true, condition } = query
  const isCounted = search.trim() === '' && condition === undefined
  return projectId === large && isCounted && subscribed ? PRETENDED : 0
}

async function listAll(query: Case): Promise<{ emails: string[]; totals: number[] }> {
  const emails: string[] = []
  const totals: number[] = []
  let cursor: string | undefined
  do {
    const page = await listContacts(core, { ...query, cursor })
    emails.push(...page.data.map(({ email }) => email))
    totals.push(page.total)
    assert.equal(page.hasMore, page.cursor !== null)
    assert.ok(page.data.length <= query.limit)
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
  return { emails, totals }
}

const searches = [
  ...[undefined, '', ' ', 'a', 'ad', 'ada', 'ADA', ' Adam ', 'gmail', 'il.com', 'moved.', 'late'],
  ...['o"h', '"', '""', "d'a", "'", '%', '100%_', '_off', '*', 'NEAR', 'a AND b', 'né', 'MÜLLER'],
  ...['münchen', 'zzz', '@gmail.com', 'x-y', '-', '(', 'ada0@gmail.com', '\u0000', 'a\u0000b'],
  ...['\ud800ab', 'email:ada', '^ada', 'ada*', 'adamada', `ada${'a'.repeat(200)}`],
]

test('every list equals the expected one, for any query and any state of the index', async () => {
  const cases = fc.record({
    projectId: fc.constantFrom('small', 'large'),
    search: fc.constantFrom(...searches),
    subscribed: fc.constantFrom(undefined, true, false),
    condition: fc.constantFrom(undefined, isPro),
    sort: fc.constantFrom('createdAt' as const, 'email' as const),
    dir: fc.constantFrom('asc' as const, 'desc' as const),
    limit: fc.constantFrom(1, 7, 40, 100),
  })
  await fc.assert(
    fc.asyncProperty(cases, async ({ projectId: which, limit, ...rest }) => {
      const query = { ...rest, limit, projectId: which === 'small' ? small : large }
      const wanted = expected(query)
      const few =
        limit === 1 ? { ...query, limit: Math.max(1, Math.ceil(wanted.length / 3)) } : query
      const { emails, totals } = await listAll(few)
      assert.deepEqual(emails, wanted)
      const total = wanted.length + pretended(query)
      assert.deepEqual(totals, [total, ...totals.slice(1).map(() => 0)])
    }),
    { numRuns: 120 },
  )
})

test('walks and counts equal the expected ones, page by page and from any number on', async () => {
  for (const projectId of [small, large]) {
    for (const search of ['', 'a', 'ada', 'gmail', 'o"h', 'zzz']) {
      for (const subscribed of [undefined, false]) {
        const scope = { projectId, search, subscribed }
        const wanted = expected({ ...scope, sort: 'createdAt', dir: 'asc', limit: 1 })
        const seen: { address: string; number: number }[] = []
        for await (const page of walkContacts(core, scope, { size: 9 })) seen.push(...page)
        assert.deepEqual(
          seen.map(({ address }) => address),
          wanted,
        )
        const half = seen.at(seen.length >> 1)?.number ?? 0
        const rest: string[] = []
        for await (const page of walkContacts(core, scope, { after: half })) {
          rest.push(...page.map(({ address }) => address))
        }
        assert.deepEqual(
          rest,
          seen.filter(({ number }) => number > half).map(({ address }) => address),
        )
        assert.equal(await countContacts(core, scope), wanted.length + pretended(scope))
      }
    }
  }
})

test('pages of a walk are shorter where contacts have much data, and miss no contact', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const note = 'x'.repeat(60_000)
  await addContacts(
    core,
    projectId,
    Array.from({ length: 300 }, (_, at) => ({
      email: `p${at}@x.test`,
      data: at < 100 ? { note } : { at },
    })),
  )
  const sizes: number[] = []
  const seen: string[] = []
  for await (const page of walkContacts(core, { projectId }, { size: 200 })) {
    sizes.push(page.length)
    seen.push(...page.map(({ address }) => address))
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 300 }, (_, at) => `p${at}@x.test`),
  )
  assert.deepEqual(sizes, [50, 17, 17, 17, 18, 72, 109])
})

test('few matches among many contacts are found beyond the first window, in either order', async (t) => {
  const deep = await openTestCore(t)
  const { id: projectId } = await addProject(deep)
  // Those that match are the oldest, and their addresses the last.
  const people = Array.from({ length: 2_600 }, (_, at) => ({
    email: at < 40 ? `z-rare-${at + 10}@x.test` : `user${at}@x.test`,
    subscribed: at >= 40,
  }))
  await addContacts(deep, projectId, people)
  const rare = people.slice(0, 40).map(({ email }) => email)
  const shared = { projectId, limit: 30 }
  const emailsOf = async (query: Partial<ContactQuery>) => {
    const first = await listContacts(deep, { ...shared, ...query })
    assert.equal(first.total, 40)
    const { cursor } = first
    assert.ok(cursor)
    const second = await listContacts(deep, { ...shared, ...query, cursor })
    assert.equal(second.cursor, null)
    return [...first.data, ...second.data].map(({ email }) => email)
  }
  assert.deepEqual(await emailsOf({ search: 'rare' }), rare.toReversed())
  assert.deepEqual(await emailsOf({ search: 'rare', dir: 'asc', sort: 'email' }), rare)
  assert.deepEqual(await emailsOf({ subscribed: false, dir: 'asc', sort: 'email' }), rare)
  assert.deepEqual(await emailsOf({ subscribed: false, search: 'rare', dir: 'asc' }), rare)
})

test('a search for one or two characters covers the newest contacts of a large project', async (t) => {
  const wide = await openTestCore(t)
  const { id: projectId } = await addProject(wide)
  await wide.store.write((tx) =>
    tx.run(sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 20010)
      insert into contacts (id, project_id, email, subscribed, created_at, updated_at)
      select printf('%032d', i), ${projectId}, printf('%d@zz.test', i), i % 2, 1, 1 from n`),
  )
  await pretendLarge(wide, projectId)
  const newest = await listContacts(wide, { projectId, search: 'zz', limit: 1, dir: 'asc' })
  assert.deepEqual([newest.total, newest.data[0]?.email], [20_000, '11@zz.test'])
  assert.equal(await countContacts(wide, { projectId, search: 'zz' }), 20_010)
})

test('a text with too many hits is searched in all addresses', async (t) => {
  const wide = await openTestCore(t)
  const { id: projectId } = await addProject(wide)
  const other = await addProject(wide)
  const wanted = ['hit1@far.test', 'hit2@far.test', 'hit3@far.test']
  await addContacts(
    wide,
    projectId,
    wanted.map((email) => ({ email })),
  )
  // Nothing of all this is in the index yet: each of its contacts may be one.
  await wide.store.write((tx) =>
    tx.run(sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 7000)
      insert into contacts (id, project_id, email, subscribed, created_at, updated_at)
      select printf('%032d', i), ${other.id}, printf('hit%d@far.test', i), 1, 1, 1 from n`),
  )
  const expectHits = async (kind: string) => {
    const scope = { projectId, search: 'hit' }
    assert.equal((await findSource(wide, scope)).kind, kind)
    for (const sort of ['createdAt', 'email'] as const) {
      const query = { ...scope, sort, dir: 'asc', limit: 2 } as const
      const page = await listContacts(wide, query)
      assert.equal(page.total, 3)
      assert.ok(page.cursor)
      const { data } = await listContacts(wide, { ...query, cursor: page.cursor })
      assert.deepEqual(
        [...page.data, ...data].map(({ email }) => email),
        wanted,
      )
    }
    assert.equal(await countContacts(wide, scope), 3)
  }
  const pretend = (contacts: number) =>
    wide.store.write((tx) =>
      tx.run(sql`update projects set contact_count = ${contacts} where id = ${projectId}`),
    )
  await pretend(100_020)
  await expectHits('scan')
  await pretend(107_000)
  await expectHits('hits')
})

test('a text that is common at both ends of the index is found without counting its hits', async (t) => {
  const wide = await openTestCore(t)
  const { id: projectId } = await addProject(wide)
  await wide.store.write((tx) =>
    tx.run(sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
      insert into contacts (number, id, project_id, email, subscribed, created_at, updated_at)
      select i + (i > 1000) * 998000, printf('%032d', i), ${projectId},
        iif(i % 5, 'often', 'rare') || i || '@zz.test', 1, 1, 1 from n`),
  )
  while (await indexBatch(wide));
  await pretendLarge(wide, projectId)
  for (const [search, kind, total] of [
    ['zz.test', 'scan', 2_000],
    ['rare', 'hits', 400],
  ] as const) {
    assert.equal((await findSource(wide, { projectId, search })).kind, kind)
    const page = await listContacts(wide, { projectId, search, limit: 5 })
    assert.equal(page.total, total)
    assert.equal(page.data.length, 5)
  }
})

test('a cursor is sealed, belongs to its order, and outlives its contact', async (t) => {
  const fresh = await openTestCore(t)
  const { id: projectId } = await addProject(fresh)
  const emails = ['a@x.test', 'b@x.test', 'c@x.test', 'd@x.test']
  const ids = await addContacts(
    fresh,
    projectId,
    emails.map((email) => ({ email })),
  )
  for (const sort of ['createdAt', 'email'] as const) {
    const query = { projectId, sort, dir: 'asc', limit: 2 } as const
    const { cursor } = await listContacts(fresh, query)
    assert.ok(cursor)
    assert.match(cursor, /^[\w-]+$/)
    assert.ok(!Buffer.from(cursor, 'base64url').includes('b@x'))
    const other = sort === 'email' ? 'createdAt' : 'email'
    await assert.rejects(listContacts(fresh, { ...query, sort: other, cursor }), {
      code: 'VALIDATION_ERROR',
    })
    const bare = await listContacts(fresh, { ...query, cursor: ids[1] })
    assert.deepEqual(
      bare.data.map(({ email }) => email),
      ['c@x.test', 'd@x.test'],
    )
  }
  const { cursor } = await listContacts(fresh, { projectId, dir: 'asc', limit: 2 })
  assert.ok(cursor)
  await fresh.store.write((tx) => tx.delete(contacts).where(sql`email = 'b@x.test'`).run())
  const next = await listContacts(fresh, { projectId, dir: 'asc', limit: 2, cursor })
  assert.deepEqual(
    next.data.map(({ email }) => email),
    ['c@x.test', 'd@x.test'],
  )
})
