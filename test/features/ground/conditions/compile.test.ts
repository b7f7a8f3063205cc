import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileCondition } from '../../../../src/features/ground/conditions/compile.ts'
import { parseCondition } from '../../../../src/features/ground/conditions/condition.ts'
import { compileSql } from '../../../../src/store/database.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { condition, population } from './arbitraries.ts'
import { matches, type TestSegment } from './evaluator.ts'
import { addManyEvents, choose, populate } from './population.ts'

test('a random condition selects the same contacts as the slow evaluator', async (t) => {
  const core = await openTestCore(t)
  const seed = fc.sample(fc.integer(), 1)[0] ?? 0
  for (const [index, contacts] of fc.sample(population, { numRuns: 4, seed }).entries()) {
    const { id: projectId } = await addProject(core)
    await populate(core, projectId, contacts)
    // With candidates from events, and without.
    const names = [...new Set(contacts.events.map(({ name }) => name))]
    await addManyEvents(core, { projectId, names, count: index % 2 === 0 ? 1 : 2001 })
    const segmentIds = contacts.segments.map(({ id }) => id)
    const check = fc.asyncProperty(condition(segmentIds), async (chosenBy) => {
      const wanted = contacts.contacts.filter((person) => matches(contacts, chosenBy, person))
      const { ids, values } = await choose(core, { projectId, condition: chosenBy })
      assert.deepEqual(ids, wanted.map(({ id }) => id).sort())
      for (const { id } of contacts.contacts) assert.equal(values.get(id), Number(ids.includes(id)))
    })
    await t.test(`population ${index} of seed ${seed}`, () => fc.assert(check, { numRuns: 50 }))
  }
})

test('text from requests is never part of the SQL', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const evil = `x') or 1 = 1; drop table contacts; --"`
  const segment = { id: evil, type: 'STATIC', hasMembershipEvents: false, condition: null } as const
  const facts = { contacts: [], events: [], segments: [{ ...segment, members: [] }] }
  await populate(core, projectId, facts)
  const filters = [
    ...['equals', 'notContains', 'lessThan'].map((operator) => ({
      field: `data.${evil}`,
      operator,
      value: evil,
    })),
    { field: 'data.day', operator: 'notEquals', value: '2026-01-31' },
    { field: 'data.size', operator: 'equals', value: 1234.5 },
    { field: 'data.at', operator: 'within', value: 1234, unit: 'days' },
    { field: 'email', operator: 'contains', value: evil },
    { field: evil, operator: 'triggered' },
    { field: `event.${evil}`, operator: 'triggeredOlderThan', value: 1234, unit: 'days' },
    { field: `segment.${evil}`, operator: 'memberOfSegment' },
    { field: 'createdAt', operator: 'lessThan', value: '2026-01-31' },
  ]
  const written = { logic: 'OR', groups: filters.map((filter) => ({ filters: [filter] })) }
  const chosenBy = parseCondition(written, 'condition')
  const compiled = compileSql(await compileCondition(core, { projectId, condition: chosenBy }))
  assert.doesNotMatch(compiled.sql, /drop|1 = 1|2026|1234/)
  assert.equal(compiled.sql.match(/\?/g)?.length, compiled.params.length)
  assert.deepEqual((await choose(core, { projectId, condition: chosenBy })).ids, [])
})

test('SQLite accepts the largest condition, even in both halves of a union', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const person = { id: 'ann', email: 'ann@a.test', subscribed: true, data: { n: 1 } }
  const at = { createdAt: core.now(), updatedAt: core.now() }
  const kinds = [
    { field: 'data.n', operator: 'notEquals', value: 'x'.repeat(100) },
    { field: 'data.n', operator: 'notEquals', value: '2026-01-31' },
    { field: 'event.x', operator: 'notTriggered' },
    { field: 'email.bounced', operator: 'notTriggeredWithin', value: 9, unit: 'days' },
  ]
  const filters = Array.from({ length: 100 }, (_, index) => kinds[index % kinds.length])
  const full = parseCondition({ logic: 'AND', groups: [{ filters }] }, 'condition')
  const segment: TestSegment = {
    id: 'full',
    type: 'DYNAMIC',
    hasMembershipEvents: false,
    condition: full,
    members: [],
  }
  await populate(core, projectId, {
    contacts: [{ ...person, ...at }],
    events: [],
    segments: [segment],
  })

  const member = { field: 'segment.full', operator: 'memberOfSegment' }
  const leaf = { logic: 'AND', groups: Array.from({ length: 4 }, () => ({ filters: [member] })) }
  const nest = (depth: number): unknown =>
    depth === 1
      ? leaf
      : { logic: 'OR', groups: [{ filters: [kinds[0]], conditions: nest(depth - 1) }] }
  const condition = parseCondition(nest(10), 'condition')
  assert.deepEqual((await choose(core, { projectId, condition })).ids, ['ann'])
  const expression = await compileCondition(core, { projectId, condition })
  const half = sql`select id from contacts where project_id = ${projectId} and ${expression}`
  const rows = await core.store.scan.all(sql`${half} union all ${half}`)
  assert.equal(rows.length, 2)
})

test('spans of time end when the condition is compiled', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const at = { createdAt: core.now(), updatedAt: core.now() }
  const person = { id: 'ann', email: 'ann@a.test', subscribed: true, data: null, ...at }
  await populate(core, projectId, { contacts: [person], events: [], segments: [] })
  const within = { field: 'createdAt', operator: 'within', value: 1, unit: 'minutes' }
  const condition = parseCondition({ logic: 'AND', groups: [{ filters: [within] }] }, 'condition')
  core.clock.now += 60_000
  assert.deepEqual((await choose(core, { projectId, condition })).ids, ['ann'])
  core.clock.now += 1
  assert.deepEqual((await choose(core, { projectId, condition })).ids, [])
})
