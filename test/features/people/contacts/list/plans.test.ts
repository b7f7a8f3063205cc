/** The query plans over contacts: no list may read or sort more rows than necessary. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { compileCondition } from '../../../../../src/features/ground/conditions/compile.ts'
import type { Condition } from '../../../../../src/features/ground/conditions/condition.ts'
import { chooseQueries } from '../../../../../src/features/people/contacts/list/contact-list.ts'
import { countQuery } from '../../../../../src/features/people/contacts/list/count.ts'
import { selectEnd } from '../../../../../src/features/people/contacts/list/number-ranges.ts'
import {
  countByNumber,
  selectByNumber,
} from '../../../../../src/features/people/contacts/list/queries.ts'
import type {
  ContactScope,
  PageRange,
} from '../../../../../src/features/people/contacts/list/scope.ts'
import {
  countHits,
  selectSamples,
} from '../../../../../src/features/people/contacts/list/search.sqlite.ts'
import {
  type ContactSource,
  hitsOf,
  newestOf,
} from '../../../../../src/features/people/contacts/list/search.ts'
import { selectAddresses } from '../../../../../src/features/people/contacts/read/find-contact.ts'
import { deleteByIds, history } from '../../../../../src/features/people/contacts/write/delete.ts'
import { selectSubscribed } from '../../../../../src/features/people/contacts/write/unsubscribe-addresses.ts'
import { compileSql } from '../../../../../src/store/database.ts'
import { type SQL, sql } from '../../../../../src/store/drizzle.ts'
import { addProject, openTestCore, type TestCore } from '../../../../core.ts'
import { cleanUpAfterFile } from '../../../../file-cleanup.ts'

const cleanup = cleanUpAfterFile()
let core: TestCore
let projectId: string
let condition: SQL

/** Of two groups, so that no shortlist stands in place of the list's own order. */
const wanted: Condition = {
  logic: 'OR',
  groups: [
    {
      filters: [
        { field: 'data.plan', operator: 'equals', value: 'pro' },
        { field: 'event.purchase', operator: 'triggeredWithin', value: 30, unit: 'days' },
      ],
    },
    { filters: [{ field: 'email.opened', operator: 'triggered' }] },
  ],
}

before(async () => {
  core = await openTestCore(cleanup)
  projectId = (await addProject(core)).id
  condition = await compileCondition(core, { projectId, condition: wanted })
})

async function explain(text: string): Promise<string[]> {
  const rows = await core.store.read.all<{ detail: string }>(
    sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
  )
  return rows.map(({ detail }) => detail)
}

const planOf = (query: SQL) => explain(compileSql(query).sql)

const inOrder = {
  source: { kind: 'none' } as ContactSource,
  sort: 'createdAt',
  dir: 'desc',
} as const
const byAddress = { ...inOrder, sort: 'email', dir: 'asc' } as const
const some = hitsOf('"ada" AND "dam"', 10_000)
const few = { ...some, count: 100 }
const searched = { kind: 'scan' } as const

type Case = Pick<PageRange, 'sort' | 'dir'> & {
  source: ContactSource
  scope?: Partial<ContactScope>
}

const pages: [string, Case, RegExp][] = [
  ['the plain list', inOrder, /INDEX contacts_order \(project_id=\? AND subscribed=\? AND rowid</],
  [
    'the plain list, oldest first',
    { ...inOrder, dir: 'asc' },
    /INDEX contacts_order \(project_id=\? AND subscribed=\? AND rowid>/,
  ],
  [
    'the list of the unsubscribed',
    { ...inOrder, scope: { subscribed: false } },
    /^SEARCH contacts USING INDEX contacts_order \(project_id=\? AND subscribed=\? AND rowid</,
  ],
  [
    'the list by a condition',
    { ...inOrder, scope: { condition: sql`` } },
    /INDEX contacts_order \(project_id=\? AND subscribed=\? AND rowid</,
  ],
  [
    'the list by address',
    byAddress,
    /^SEARCH contacts USING INDEX contacts_address \(project_id=\? AND email>/,
  ],
  [
    'the list by address, last first',
    { ...byAddress, dir: 'desc' },
    /^SEARCH contacts USING INDEX contacts_address \(project_id=\? AND email</,
  ],
  [
    'the list by address of a frequent part',
    { ...byAddress, source: searched, scope: { search: 'gmail' } },
    /^SEARCH contacts USING INDEX contacts_address \(project_id=\? AND email>/,
  ],
]

function queriesOf({ source, scope = {}, sort, dir }: Case) {
  const whole = { projectId, ...scope, ...(scope.condition && { condition }) }
  const after = sort === 'email' ? 'm@x.test' : 1000
  return chooseQueries({ scope: whole, source, range: { sort, dir, after, limit: 21 } })
}

for (const [name, kind, index] of pages) {
  test(`${name} follows its index from the cursor on, and sorts nothing`, async () => {
    const { near, far } = queriesOf(kind)
    assert.equal(far, undefined)
    const plan = await planOf(near)
    const own = plan.filter((step) => /\bcontacts\b/.test(step))
    assert.ok(own.length > 0 && own.every((step) => index.test(step)), plan.join('\n'))
    assertNoScan(plan)
    assertNoSort(plan)
  })
}

/** In FTS5's words: by rowid, behind one, forwards or backwards. */
const inIndex = {
  asc: /^SCAN contact_search VIRTUAL TABLE INDEX 64:M1>$/,
  desc: /^SCAN contact_search VIRTUAL TABLE INDEX 192:M1<$/,
}

for (const dir of ['asc', 'desc'] as const) {
  test(`a page of hits is read from the search index in its order, ${dir}`, async () => {
    const { near, far } = queriesOf({ ...inOrder, dir, source: some, scope: { search: 'adam' } })
    assert.equal(far, undefined)
    const plan = await planOf(near)
    const own = plan.filter((step) => /^S\w+ contact/.test(step))
    const [index = '', known = '', backlog = '', owed = ''] = own
    assert.equal(own.length, 4, plan.join('\n'))
    assert.match(index, inIndex[dir])
    assert.match(
      backlog,
      /^SEARCH contact_search_backlog USING INTEGER PRIMARY KEY \(rowid[<>]\?\)/,
    )
    for (const row of [known, owed]) {
      assert.match(row, /^SEARCH contacts USING INTEGER PRIMARY KEY \(rowid=\?\)/)
    }
    assertNoSort(plan)
    // From another number than an integer FTS5 would begin at the end.
    assert.match(compileSql(near).sql, /contact_search\.rowid [<>] cast\(\? as integer\)/)
  })
}

test('F9: a page by address reads few hits directly, and the next addresses when there are more', async () => {
  const query = { ...byAddress, scope: { search: 'adam' } }
  const ofFew = await planOf(queriesOf({ ...query, source: few }).near)
  assert.match(ofFew.join('\n'), /SEARCH contacts USING INTEGER PRIMARY KEY \(rowid=\?\)/)
  assertNoScan(ofFew)
  const ofSome = await planOf(queriesOf({ ...query, source: some }).near)
  assert.match(ofSome.join('\n'), /^SEARCH contacts USING INDEX contacts_address \(.* email>\?\)$/)
})

const windowed: [string, Case, RegExp, RegExp][] = [
  [
    'a frequent part, newest first',
    { ...inOrder, source: searched, scope: { search: 'gmail' } },
    /COVERING INDEX contacts_order \(project_id=\? AND subscribed=\? AND rowid</,
    /COVERING INDEX contacts_address \(project_id=\?\)/,
  ],
  [
    'the unsubscribed by address',
    { ...byAddress, scope: { subscribed: false } },
    /COVERING INDEX contacts_address \(project_id=\? AND email>/,
    /INDEX contacts_order \(project_id=\? AND subscribed=\?\)/,
  ],
  [
    'a condition by address',
    { ...byAddress, scope: { condition: sql`` } },
    /COVERING INDEX contacts_address \(project_id=\? AND email>/,
    /INDEX contacts_order \(project_id=\? AND subscribed=\?\)/,
  ],
]

for (const [name, kind, nearIndex, farIndex] of windowed) {
  test(`the list of ${name} reads a window first, and then one index`, async () => {
    const { near, far } = queriesOf(kind)
    assert.ok(far)
    const [first, second] = [await planOf(near), await planOf(far)]
    assert.match(first.join('\n'), nearIndex)
    assert.match(first.join('\n'), /SEARCH contacts USING INTEGER PRIMARY KEY \(rowid=\?\)/)
    assert.match(second.join('\n'), farIndex)
    for (const plan of [first, second]) assertNoScan(plan)
  })
}

test('the newest contacts are found in the index of the order only', async () => {
  const plan = await planOf(newestOf({ projectId, search: 'ab' }))
  const own = plan.filter((step) => step.includes('contacts'))
  assert.ok(own.length === 2 && own.every((step) => step.includes('COVERING INDEX contacts_order')))
  assertNoSort(plan)
})

test('candidates come from the trigram index', async () => {
  const samples = await planOf(selectSamples(['ada', 'dam']))
  const counted = await explain(countHits.compiled().text)
  const looked = await planOf(countQuery(some, { projectId, search: 'adam' }))
  for (const plan of [samples, counted, looked]) {
    const searches = plan.filter((step) => step.startsWith('SCAN contact_search '))
    assert.ok(searches.length > 0, plan.join('\n'))
    assert.ok(searches.every((step) => /VIRTUAL TABLE INDEX \d+:M1$/.test(step)))
    assertNoSort(plan)
  }
})

test('F9: counts read one index of the project, or the counter', async () => {
  const count = (source: ContactSource, scope: Partial<ContactScope>) =>
    planOf(countQuery(source, { projectId, ...scope }))
  const none: ContactSource = { kind: 'none' }
  for (const subscribed of [undefined, true, false]) {
    const counter = (await count(none, { subscribed })).join()
    assert.match(counter, /^SEARCH projects USING INDEX \S+ \(id=\?\)$/)
  }
  const addresses = (await count({ kind: 'scan' }, { search: 'gmail' })).join()
  assert.match(addresses, /^SEARCH contacts USING COVERING INDEX contacts_address/)
})

test('a range of numbers is read in the index of the order, from its start to its end', async () => {
  const numberRange = { above: 5, upTo: 9 }
  const range = /^SEARCH contacts USING INDEX contacts_order \(.*rowid>\? AND rowid<\?\)/
  for (const subscribed of [undefined, false]) {
    const scope = { projectId, condition, subscribed }
    const counted = await planOf(
      countByNumber(scope, { isMost: subscribed === false, numberRange }),
    )
    assert.match(counted[0] ?? '', range)
    assertNoScan(counted)
    const page = await planOf(selectByNumber(scope, { dir: 'desc', limit: 9, numberRange }))
    const own = page.filter((step) => /\bcontacts\b/.test(step))
    assert.ok(own.length > 0 && own.every((step) => range.test(step)), page.join('\n'))
    assertNoSort(page)
  }
  for (const dir of ['asc', 'desc'] as const) {
    const ends = await planOf(selectEnd({ projectId }, { dir, from: 7, size: 9 }))
    const own = ends.filter((step) => /\bcontacts\b/.test(step))
    assert.ok(own.length === 2 && own.every((step) => /COVERING INDEX contacts_order/.test(step)))
    assertNoSort(ends)
  }
})

test('counts of a project with most contacts read the rows of a range of numbers', async () => {
  const scope = { projectId, condition }
  const plan = await planOf(
    countByNumber(scope, { isMost: true, numberRange: { above: 5, upTo: 9 } }),
  )
  const own = plan.filter((step) => /\bcontacts\b/.test(step))
  assert.deepEqual(own, ['SEARCH contacts USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'])
})

test('contacts are looked up with one seek per address', async () => {
  for (const each of [selectAddresses, selectSubscribed]) {
    const plan = await explain(each.compiled().text)
    assert.match(plan[0] ?? '', /INDEX contacts_address \(project_id=\? AND email=\?\)/)
  }
})

test('contacts are deleted by id, and their history by the ids of its rows', async () => {
  const statements = [
    deleteByIds,
    ...history.flatMap(({ hasMore, deletePage }) => [hasMore, deletePage]),
  ]
  for (const each of statements) {
    const plan = await explain(each.compiled().text)
    assertNoScan(plan)
    const own = plan.filter((step) => /^SEARCH (contacts|emails|events|segment)/.test(step))
    const isSeek = /\((id|contact_id|rowid)=\?\)/
    assert.ok(own.length > 0 && own.every((step) => isSeek.test(step)), plan.join('\n'))
  }
})

function assertNoScan(plan: string[]): void {
  const whole = plan.filter((step) => /^SCAN (contacts|emails|events|segment)/.test(step))
  assert.deepEqual(whole, [], plan.join('\n'))
}

function assertNoSort(plan: string[]): void {
  assert.ok(!plan.some((step) => step.includes('TEMP B-TREE')), plan.join('\n'))
}
