/** Fields with their types and coverage, their values, who refers to them, and their end. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { parseCondition } from '../../../../../src/features/ground/conditions/condition.ts'
import {
  deleteField,
  runFieldDeletion,
} from '../../../../../src/features/people/contacts/fields/delete.ts'
import {
  listContactFields,
  listFieldValues,
} from '../../../../../src/features/people/contacts/fields/fields.ts'
import { findFieldUsage } from '../../../../../src/features/people/contacts/fields/usage.ts'
import { parseData } from '../../../../../src/features/people/contacts/write/data.ts'
import { deleteContacts } from '../../../../../src/features/people/contacts/write/delete.ts'
import { upsertContacts } from '../../../../../src/features/people/contacts/write/upsert.ts'
import { and, eq, sql } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { contactFields, contacts } from '../../../../../src/store/schema/contacts.ts'
import type { ContactData } from '../../../../../src/store/schema/json-values.ts'
import { segments } from '../../../../../src/store/schema/segments.ts'
import type { Tx } from '../../../../../src/store/write/transaction.ts'
import { addProject, address, openTestCore, START, type TestCore } from '../../../../core.ts'
import { cleanUpAfterFile } from '../../../../file-cleanup.ts'
import { claimJob } from '../../../../work/jobs/running.ts'

const cleanup = cleanUpAfterFile()
let core: TestCore

before(async () => {
  core = await openTestCore(cleanup)
})

/** Names that a path, a query or a prototype could take for something else. */
const oddKeys = [
  'plan',
  'a.b',
  '"',
  '\\',
  'a"b\\',
  '%',
  '__proto__',
  'ключ',
  '😀',
  '$',
  "it's",
  '[0]',
]

const save = (tx: Tx, projectId: string, { email, data }: { email: string; data: unknown }) => {
  const change = {
    projectId,
    subscribed: undefined,
    subscribedByDefault: true,
    at: core.clock.now,
    reason: 'api' as const,
  }
  const entry = { address: address(email), changes: parseData(data).changes }
  return upsertContacts(tx, change, [entry])
}

const addContacts = (projectId: string, all: readonly unknown[]) =>
  core.store.write(async (tx) => {
    for (const [index, data] of all.entries()) {
      await save(tx, projectId, { email: `c${index}@people.test`, data })
    }
  })

const dataOf = async (projectId: string) =>
  (await core.store.read.select().from(contacts).where(eq(contacts.projectId, projectId))).map(
    ({ data }) => data,
  )

/** The counts that the triggers should have made. */
function recount(all: readonly (ContactData | null)[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const data of all) {
    for (const [key, value] of Object.entries(data ?? {})) {
      const name = JSON.stringify([key, kindOf(value)])
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  return counts
}

function kindOf(value: unknown): string {
  if (typeof value === 'boolean' || typeof value === 'number') return typeof value
  if (typeof value !== 'string') return 'other'
  const isDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{3})?Z?)?$/.test(value)
  return isDate ? 'date' : 'string'
}

async function kept(projectId: string): Promise<Map<string, number>> {
  const isMine = eq(contactFields.projectId, projectId)
  const rows = await core.store.read.select().from(contactFields).where(isMine)
  return new Map(rows.map(({ key, kind, contacts: n }) => [JSON.stringify([key, kind]), n]))
}

const key = fc.oneof(
  fc.constantFrom(...oddKeys),
  fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme' }),
)
const value = fc.oneof(
  fc.boolean(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom('2026-01-31', '2026-01-31T10:00:00', '2026-01-31T10:00:00.000Z'),
  fc.constantFrom(
    '2026-01-31T10:00:00+01:00',
    '2026-1-31',
    '2026-01-31T10:00:00.5Z',
    'x2026-01-31',
  ),
  fc.string({ maxLength: 5 }),
  fc.constant(null),
  fc.array(fc.integer(), { maxLength: 2 }),
  fc.constant({ deep: { value: 1 } }),
)
const data = fc.array(fc.tuple(key, value), { maxLength: 4 }).map((all) => Object.fromEntries(all))
const email = fc.constantFrom('a@x.test', 'b@x.test', 'c@x.test', 'd@x.test')
const step = fc.oneof(
  fc.record({ kind: fc.constant('save' as const), email, data }),
  fc.record({ kind: fc.constant('clear' as const), email }),
  fc.record({ kind: fc.constant('move' as const), email }),
  fc.record({ kind: fc.constant('flip' as const), email }),
  fc.record({ kind: fc.constant('delete' as const), email }),
)

test('the counts of keys are right after any change of contacts', async () => {
  const other = await addProject(core)
  await addContacts(other.id, [{ plan: 'pro' }, { plan: 1 }])
  const untouched = await kept(other.id)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const { id } = await addProject(core)
      await core.store.write(async (tx) => {
        for (const each of steps) await take(tx, id, each)
      })
      const all = await dataOf(id)
      assert.deepEqual(await kept(id), recount(all))
      const [project] = await core.store.read.select().from(projects).where(eq(projects.id, id))
      assert.equal(project?.contactCount, all.length)
      assert.equal(project?.subscribedCount, await countSubscribed(id))
      await core.store.write((tx) => tx.delete(projects).where(eq(projects.id, id)).run())
      assert.equal((await kept(id)).size, 0)
    }),
    { numRuns: 60 },
  )
  assert.deepEqual(await kept(other.id), untouched)
})

async function countSubscribed(projectId: string): Promise<number> {
  const isMeant = and(eq(contacts.projectId, projectId), eq(contacts.subscribed, true))
  return core.store.read.$count(contacts, isMeant)
}

async function take(
  tx: Tx,
  projectId: string,
  each: typeof step extends fc.Arbitrary<infer Step> ? Step : never,
): Promise<void> {
  if (each.kind === 'save') {
    await save(tx, projectId, each)
    return
  }
  const isMeant = sql`${contacts.projectId} = ${projectId} and ${contacts.address} = ${each.email}`
  if (each.kind === 'clear') await tx.update(contacts).set({ data: null }).where(isMeant)
  if (each.kind === 'flip') {
    await tx.update(contacts).set({ subscribed: sql`1 - subscribed` }).where(isMeant)
  }
  if (each.kind === 'move') {
    const id = newId()
    await tx
      .update(contacts)
      .set({ address: `${id}@x.test` })
      .where(isMeant)
  }
  if (each.kind === 'delete') {
    const rows = await tx.select({ id: contacts.id }).from(contacts).where(isMeant)
    await deleteContacts(tx, projectId, { ids: rows.map(({ id }) => id), at: core.now() })
  }
}

test('a write that fails leaves the counts as they were', async () => {
  const { id } = await addProject(core)
  await addContacts(id, [{ plan: 'pro' }])
  const before = await kept(id)
  const write = core.store.write(async (tx) => {
    await save(tx, id, { email: 'new@people.test', data: { plan: 'pro', extra: 1 } })
    await tx.update(contacts).set({ data: null }).where(eq(contacts.projectId, id))
    throw new Error('no')
  })
  await assert.rejects(write, /no/)
  assert.deepEqual(await kept(id), before)
})

test('fields are listed by name, with the type of most values and the share of contacts', async () => {
  const { id } = await addProject(core)
  const standard = [
    { field: 'createdAt', type: 'date', coverage: 100 },
    { field: 'email', type: 'string', coverage: 100 },
    { field: 'subscribed', type: 'boolean', coverage: 100 },
    { field: 'updatedAt', type: 'date', coverage: 100 },
  ]
  assert.deepEqual(await listContactFields(core, id), { fields: standard, count: 4 })
  await addContacts(id, [
    { plan: 'pro', age: 41, since: '2026-01-31', vip: true, tags: ['a'], mixed: 1 },
    { plan: 'free', age: 'young', since: '2026-01-31T10:00:00Z', mixed: 'one' },
    { plan: 'free', age: 17, mixed: [1] },
  ])
  const { fields, count } = await listContactFields(core, id)
  assert.equal(count, 10)
  assert.deepEqual(fields, [
    standard[0],
    { field: 'data.age', type: 'number', coverage: 100 },
    { field: 'data.mixed', type: 'string', coverage: 100 },
    { field: 'data.plan', type: 'string', coverage: 100 },
    { field: 'data.since', type: 'date', coverage: 67 },
    { field: 'data.tags', type: 'string', coverage: 33 },
    { field: 'data.vip', type: 'boolean', coverage: 33 },
    ...standard.slice(1),
  ])
})

const valuesOf = (projectId: string, field: string, limit = 100) =>
  listFieldValues(core, { projectId, field, limit })

test('values are distinct, typed and sorted; values that no condition compares with are omitted', async () => {
  const { id } = await addProject(core)
  const numbers = [2, '2', 10, '1.5', -1]
  const texts = ['007', '1e3', 'b', 'a', 'a', '9007199254740993', '1.50']
  const others = [['list'], { object: 1 }, 'x'.repeat(1001)]
  const all = ['true', true, false, ...texts, ...numbers, ...others]
  await addContacts(
    id,
    all.map((value) => ({ mixed: value })),
  )
  const values = [true, false, -1, 1.5, 2, 10, '007', '1.50', '1e3', '9007199254740993', 'a', 'b']
  const answer = { field: 'data.mixed', values, count: 12, limit: 100 }
  assert.deepEqual(await valuesOf(id, 'data.mixed'), answer)
  assert.deepEqual(await valuesOf(id, 'mixed'), { ...answer, field: 'mixed' })
  assert.equal((await valuesOf(id, 'mixed', 3)).count, 3)
  assert.deepEqual((await valuesOf(id, 'data.nothing')).values, [])
})

test('among the standard fields, only subscribed lists values', async () => {
  const { id } = await addProject(core)
  await addContacts(id, [{ subscribed: 'weekly' }])
  assert.deepEqual((await valuesOf(id, 'subscribed')).values, [true, false])
  assert.deepEqual((await valuesOf(id, 'data.subscribed')).values, ['weekly'])
  for (const field of ['email', 'createdAt', 'updatedAt']) {
    assert.deepEqual((await valuesOf(id, field)).values, [])
  }
})

test('among many values, those of the oldest contacts are listed, subscribed contacts first', async () => {
  const { id } = await addProject(core)
  await insertMany(id, 1_200, `json_object('n', i)`)
  await core.store.write((tx) =>
    tx.run(sql`update contacts set subscribed = 0, data = json_set(data, '$.rare', 'x' || number)
      where project_id = ${id} and data ->> '$.n' in (1, 2, 700)`),
  )
  const from = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => first + index)
  assert.deepEqual((await valuesOf(id, 'n', 200)).values, from(3, 200))
  assert.equal((await valuesOf(id, 'n', 1_200)).count, 1_200)
  assert.equal((await valuesOf(id, 'rare')).count, 3, 'whoever has them')
})

test('a text and the number that it spells count as one value', async () => {
  const { id } = await addProject(core)
  await addContacts(
    id,
    [1, '1', 2, '2', 'last'].map((n) => ({ n })),
  )
  assert.deepEqual((await valuesOf(id, 'n', 3)).values, [1, 2, 'last'])
  assert.deepEqual((await valuesOf(id, 'n', 2)).values, [1, 2])
})

test('no contact is read if none has the key', async (t) => {
  const { id } = await addProject(core)
  await addContacts(id, [{ plan: 'pro' }, { gone: 1 }])
  await core.store.write((tx) =>
    tx.run(sql`update contacts set data = null where data ->> '$.gone' = 1`),
  )
  const list = t.mock.method(core.store.scan, 'list')
  assert.deepEqual((await valuesOf(id, 'plan')).values, ['pro'])
  assert.equal(list.mock.callCount(), 2, 'one for either half')
  assert.deepEqual((await valuesOf(id, 'nobody')).values, [])
  assert.deepEqual((await valuesOf(id, 'gone')).values, [])
  assert.equal(list.mock.callCount(), 2)
})

test('an escape in a text counts as one character', async () => {
  const { id } = await addProject(core)
  const kept = ['"'.repeat(1_000), '\u0001'.repeat(1_000), 'é'.repeat(1_000)]
  await addContacts(
    id,
    [...kept, '"'.repeat(1_001), 'null', ''].map((text) => ({ text })),
  )
  assert.deepEqual((await valuesOf(id, 'text')).values, [...kept, 'null'].sort())
})

test('the usage of a field lists segments whose conditions refer to it at any depth', async () => {
  const { id } = await addProject(core)
  await addContacts(id, [{ plan: 'pro', city: 'Rome' }, { plan: 'free' }])
  const filter = (field: string, value: unknown) => ({ field, operator: 'equals', value })
  const deep = {
    logic: 'AND',
    groups: [
      {
        filters: [filter('email', 'a@b.test')],
        conditions: { logic: 'OR', groups: [{ filters: [filter('data.plan', 'pro')] }] },
      },
    ],
  }
  const first = await addSegment(id, 'Deep', deep)
  const second = await addSegment(id, 'Plain', {
    logic: 'AND',
    groups: [{ filters: [filter('data.plan', 'free')] }],
  })
  await addSegment((await addProject(core)).id, 'Other', deep)
  const usage = (field: string) => findFieldUsage(core, { projectId: id, field })
  const unused = { usedInCampaigns: [], usedInWorkflows: [] }
  const both = [
    { id: first, name: 'Deep' },
    { id: second, name: 'Plain' },
  ]
  const used = { usedInSegments: both, ...unused, contactCount: 2, canDelete: false }
  assert.deepEqual(await usage('data.plan'), used)
  assert.deepEqual(await usage('plan'), used)
  assert.deepEqual(await usage('email'), { ...used, usedInSegments: both.slice(0, 1) })
  const free = { usedInSegments: [], ...unused, canDelete: true }
  assert.deepEqual(await usage('data.city'), { ...free, contactCount: 1 })
  assert.deepEqual(await usage('data.email'), { ...free, contactCount: 0 })
  assert.deepEqual(await usage('createdAt'), { ...free, contactCount: 2, canDelete: false })
  await assert.rejects(deleteField(core, { projectId: id, field: 'data.plan' }), {
    code: 'BAD_REQUEST',
    details: { usedInSegments: both, ...unused },
  })
  assert.deepEqual(await dataOf(id), [{ plan: 'pro', city: 'Rome' }, { plan: 'free' }])
})

test('only fields of the data can be deleted', async () => {
  const { id } = await addProject(core)
  await addContacts(id, [{ plan: 'pro' }])
  for (const field of ['email', 'subscribed', 'plan', 'data', '']) {
    await assert.rejects(deleteField(core, { projectId: id, field }), {
      code: 'VALIDATION_ERROR',
      status: 422,
    })
  }
  assert.deepEqual(await dataOf(id), [{ plan: 'pro' }])
})

test('deleting a field removes it from every contact of the project, and nothing else', async () => {
  const { id } = await addProject(core)
  const other = await addProject(core)
  await addContacts(other.id, [{ plan: 'pro' }])
  await addContacts(id, [{ plan: 'pro', n: 1e21 }, { n: 2 }, { plan: { deep: [1] } }, undefined])
  core.clock.now += 1000
  assert.deepEqual(await deleteField(core, { projectId: id, field: 'data.plan' }), {
    deletedFrom: 2,
  })
  assert.deepEqual(await dataOf(id), [{ n: 1e21 }, { n: 2 }, null, null])
  const isMine = eq(contacts.projectId, id)
  const rows = await core.store.read.select().from(contacts).where(isMine)
  assert.deepEqual(
    rows.map(({ updatedAt }) => core.clock.now - updatedAt),
    [0, 1000, 0, 1000],
  )
  assert.deepEqual(await kept(id), recount(await dataOf(id)))
  assert.deepEqual(await dataOf(other.id), [{ plan: 'pro' }])
  const again = await deleteField(core, { projectId: id, field: 'data.plan' })
  assert.deepEqual(again, { deletedFrom: 0 })
})

test('a key may have any name', async () => {
  const { id } = await addProject(core)
  const all = Object.fromEntries(oddKeys.map((key, index) => [key, `v${index}`]))
  await addContacts(id, [all])
  for (const [index, key] of oddKeys.entries()) {
    const field = `data.${key}`
    assert.deepEqual((await valuesOf(id, field)).values, [`v${index}`], field)
    const usage = await findFieldUsage(core, { projectId: id, field })
    assert.equal(usage.contactCount, 1, field)
    assert.deepEqual(await deleteField(core, { projectId: id, field }), { deletedFrom: 1 })
    const [left] = await dataOf(id)
    assert.deepEqual(Object.keys(left ?? {}), oddKeys.slice(index + 1), field)
  }
  assert.equal((await kept(id)).size, 0)
})

const MANY = 5_200

test('a field of many contacts is deleted by a job, which resumes after an interruption', async () => {
  const { id } = await addProject(core)
  await insertMany(id, MANY, `json_object('plan', 'p' || i, 'n', i)`)
  core.clock.now += 1000
  const { store, now, jobNotifier } = core
  const answer = await deleteField(core, { projectId: id, field: 'data.plan' })
  assert.deepEqual(answer, {
    deletedFrom: MANY,
    jobId: `delete-field-${id}-${core.clock.now}`,
  })
  const first = await claimJob(core, 'delete-field')
  let batches = 0
  const write: TestCore['store']['write'] = async (fn) => {
    const result = await store.write(fn)
    batches += 1
    if (batches === 3) first.abort.abort(new Error('stopped here'))
    return result
  }
  const interrupted = { store: { ...store, write }, now, jobNotifier }
  await assert.rejects(runFieldDeletion(interrupted, first), /stopped here/)
  assert.equal(batches, 3)
  const done = MANY - (await countPlan(id))
  assert.ok(done > 0 && done < MANY)
  await addContactsLate(id)
  core.clock.now += 60_000
  const second = await claimJob(core, 'delete-field')
  assert.equal(second.id, first.id)
  assert.deepEqual(await runFieldDeletion(core, second), { deletedFrom: MANY })
  assert.deepEqual(await kept(id), recount(await dataOf(id)))
  assert.equal(await countPlan(id), 1)
})

async function countPlan(projectId: string): Promise<number> {
  return (await dataOf(projectId)).filter((data) => data !== null && 'plan' in data).length
}

const addContactsLate = (projectId: string) =>
  core.store.write((tx) => save(tx, projectId, { email: 'late@x.test', data: { plan: 'late' } }))

/** Contacts 1 to `count`; `data` is an expression of their `i`. */
const insertMany = (projectId: string, count: number, data: string) =>
  core.store.write((tx) =>
    tx.run(sql`
      with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${count})
      insert into contacts (id, project_id, email, subscribed, data, created_at, updated_at)
      select ${newId()} || i, ${projectId}, 'm' || i || '@people.test', 1, ${sql.raw(data)},
        ${START}, ${START} from numbers`),
  )

let segmentCount = 0

async function addSegment(projectId: string, name: string, condition: unknown): Promise<string> {
  const id = newId()
  segmentCount += 1
  const at = START + segmentCount
  await core.store.write((tx) =>
    tx
      .insert(segments)
      .values({
        id,
        projectId,
        name,
        condition: parseCondition(condition, 'condition'),
        createdAt: at,
        updatedAt: at,
      })
      .run(),
  )
  return id
}
