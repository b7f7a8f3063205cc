/** The query plans of conditions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileCondition } from '../../../../src/features/ground/conditions/compile.ts'
import { parseCondition } from '../../../../src/features/ground/conditions/condition.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { addProject, openTestCore, START, type TestCore } from '../../../core.ts'
import { addManyEvents, populate } from './population.ts'

const rare = { field: 'rare', operator: 'triggered' }
const isPro = { field: 'data.plan', operator: 'equals', value: 'pro' }
const inSegment = (id: string) => ({ field: `segment.${id}`, operator: 'memberOfSegment' })
const all = (...filters: unknown[]) => ({ logic: 'AND', groups: [{ filters }] })
const either = (...filters: unknown[]) => ({
  logic: 'OR',
  groups: filters.map((filter) => ({ filters: [filter] })),
})

type Setting = { core: TestCore; projectId: string }

async function setUp(t: Parameters<typeof openTestCore>[0]): Promise<Setting> {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const at = { createdAt: START, updatedAt: START }
  const contacts = ['ann', 'bob'].map((id) => ({
    id,
    email: `${id}@a.test`,
    subscribed: true,
    data: { plan: 'pro' },
    ...at,
  }))
  const rareOne = { contactId: 'ann', name: 'rare', at: START, isLeftOut: false }
  const often = contacts.map(({ id }) => ({ ...rareOne, contactId: id, name: 'often' }))
  const dynamic = { type: 'DYNAMIC' as const, hasMembershipEvents: false, members: [] }
  await populate(core, projectId, {
    contacts,
    events: [rareOne, ...often],
    segments: [
      { ...dynamic, id: 'small', type: 'STATIC', members: ['bob'], condition: null },
      { ...dynamic, id: 'nested', condition: parseCondition(all(rare), 'condition') },
    ],
  })
  await addManyEvents(core, { projectId, names: ['often'], count: 2000 })
  return { core, projectId }
}

/** Returns the contacts of a list, and the plan of its query. */
async function ask({ core, projectId }: Setting, written: unknown) {
  const condition = parseCondition(written, 'condition')
  const expression = await compileCondition(core, { projectId, condition })
  const query = sql`select id, ${expression} from contacts indexed by contacts_order
    where project_id = ${projectId} and subscribed = 1 and (${expression}) order by number desc`
  const rows = await core.store.scan.values<[string, number]>(query)
  const steps = await core.store.scan.values<unknown[]>(sql`explain query plan ${query}`)
  const values = await core.store.scan.values<[unknown]>(
    sql`select distinct ${expression} from contacts where project_id = ${projectId}`,
  )
  for (const [value] of values) assert.ok(value === 0 || value === 1)
  return { ids: rows.map(([id]) => id).sort(), plan: steps.map((step) => String(step[3])) }
}

const narrowed =
  'SEARCH contacts USING INDEX contacts_order (project_id=? AND subscribed=? AND rowid=?)'
const whole = 'SEARCH contacts USING INDEX contacts_order (project_id=? AND subscribed=?)'

test('only the candidates of a rare event, a small segment or an address are read', async (t) => {
  const setting = await setUp(t)
  const cases: { of: string; condition: unknown; wanted: string[] }[] = [
    { of: 'an event', condition: all(rare), wanted: ['ann'] },
    {
      of: 'beside others',
      condition: all(isPro, { ...rare, field: 'often' }, rare),
      wanted: ['ann'],
    },
    {
      of: 'a window',
      condition: all({ field: 'often', operator: 'triggeredOlderThan', value: 1, unit: 'days' }),
      wanted: [],
    },
    { of: 'members', condition: all(inSegment('small')), wanted: ['bob'] },
    { of: "a segment's condition", condition: all(inSegment('nested')), wanted: ['ann'] },
    {
      of: 'a nested condition',
      condition: { logic: 'OR', groups: [{ filters: [isPro], conditions: all(rare) }] },
      wanted: ['ann'],
    },
    {
      of: 'an address',
      condition: all({ field: 'email', operator: 'equals', value: 'BOB@a.test' }),
      wanted: ['bob'],
    },
  ]
  for (const { of: name, condition, wanted } of cases) {
    const { ids, plan } = await ask(setting, condition)
    assert.deepEqual(ids, wanted, name)
    assert.ok(plan.includes(narrowed), `${name}: ${plan.join('\n')}`)
  }
})

test('all contacts are read where others may match or there are too many candidates', async (t) => {
  const setting = await setUp(t)
  const cases: { of: string; condition: unknown; wanted: string[] }[] = [
    { of: 'an alternative', condition: either(rare, isPro), wanted: ['ann', 'bob'] },
    { of: 'a negation', condition: all({ ...rare, operator: 'notTriggered' }), wanted: ['bob'] },
    {
      of: 'no members',
      condition: all({ ...inSegment('small'), operator: 'notMemberOfSegment' }),
      wanted: ['ann'],
    },
    {
      of: 'none of a condition',
      condition: all({ ...inSegment('nested'), operator: 'notMemberOfSegment' }),
      wanted: ['bob'],
    },
    { of: 'a frequent event', condition: all({ ...rare, field: 'often' }), wanted: ['ann', 'bob'] },
    { of: 'data', condition: all(isPro), wanted: ['ann', 'bob'] },
  ]
  for (const { of: name, condition, wanted } of cases) {
    const { ids, plan } = await ask(setting, condition)
    assert.deepEqual(ids, wanted, name)
    assert.ok(plan.includes(whole), `${name}: ${plan.join('\n')}`)
    assert.ok(!plan.includes(narrowed))
  }
})

test('former members of a segment are no candidates', async (t) => {
  const { plan } = await ask(await setUp(t), all(inSegment('small')))
  const named = plan.filter((step) => / segment_members .*\(segment_id=\?\)/.test(step))
  assert.ok(named.length > 0)
  for (const step of named) assert.match(step, /INDEX segment_members_newest/)
})

test('each event filter is one seek, and nothing is scanned or sorted', async (t) => {
  const setting = await setUp(t)
  const span = { value: 1, unit: 'days' }
  const filters = [
    { field: 'often', operator: 'triggered' },
    { field: 'often', operator: 'notTriggered' },
    { field: 'often', operator: 'triggeredWithin', ...span },
    { field: 'often', operator: 'notTriggeredWithin', ...span },
    { field: 'often', operator: 'triggeredOlderThan', ...span },
    { field: 'email.bounced', operator: 'notTriggered' },
    inSegment('small'),
  ]
  for (const filter of filters) {
    const { plan } = await ask(setting, all(filter))
    const text = `${filter.operator}: ${plan.join('\n')}`
    const seek =
      /events USING (?:COVERING )?INDEX events_contact \(contact_id=\? AND name=\?|segment_members USING PRIMARY KEY \(segment_id=\? AND contact_id=\?\)/
    assert.match(text, seek)
    assert.doesNotMatch(text, /SCAN|TEMP B-TREE/)
  }
})
