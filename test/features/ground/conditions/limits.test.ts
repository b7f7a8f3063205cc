/** The largest valid conditions: SQLite must accept their expressions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCondition } from '../../../../src/features/ground/conditions/condition.ts'
import { findMisfits } from '../../../../src/features/ground/conditions/find-misfits.ts'
import { addProject, openTestCore, START, type TestCore } from '../../../core.ts'
import { choose, populate } from './population.ts'

const plan = { field: 'data.plan', operator: 'equals', value: 'pro' }
const inSegment = (id: string) => ({ field: `segment.${id}`, operator: 'memberOfSegment' })

function nested(depth: number, filters: unknown[]): unknown {
  const group = depth === 1 ? { filters } : { filters, conditions: nested(depth - 1, filters) }
  return { logic: 'AND', groups: [group] }
}

/** `last` is nested 31 deep below filters that hold. */
function deepest(last: unknown): unknown {
  let condition: unknown = { logic: 'AND', groups: [{ filters: [last] }] }
  for (let depth = 1; depth < 32; depth++) {
    condition = { logic: 'OR', groups: [{ filters: [plan], conditions: condition }] }
  }
  return condition
}

async function openProject(
  t: Parameters<typeof openTestCore>[0],
  segmentIds: string[] = [],
  hasMembershipEvents = false,
) {
  const core: TestCore = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const at = { createdAt: START, updatedAt: START }
  const contacts = ['pro', 'free'].map((value) => ({
    ...{ id: value, email: `${value}@a.test`, subscribed: true, data: { plan: value }, ...at },
  }))
  const segments = segmentIds.map((id, index) => ({
    ...{ id, type: 'DYNAMIC' as const, hasMembershipEvents, members: [] },
    condition: parseCondition(
      deepest(index === 0 ? plan : inSegment(segmentIds[index - 1] ?? '')),
      'condition',
    ),
  }))
  await populate(core, projectId, { contacts, events: [], segments })
  return async (given: unknown) => {
    const condition = parseCondition(given, 'condition')
    return (await choose(core, { projectId, condition })).ids
  }
}

const largest: [name: string, condition: unknown][] = [
  ['32 levels', nested(32, [plan])],
  ['32 levels of 15 filters', nested(32, Array(15).fill(plan))],
  ['500 filters in a group', { logic: 'AND', groups: [{ filters: Array(500).fill(plan) }] }],
  ['500 groups', { logic: 'OR', groups: Array.from({ length: 500 }, () => ({ filters: [plan] })) }],
]

for (const [name, given] of largest) {
  test(`a condition of ${name} chooses contacts`, async (t) => {
    const choosing = await openProject(t)
    assert.deepEqual(await choosing(given), ['pro'])
  })
}

test('segments nested ten deep, each with a condition of 32 levels, select contacts', async (t) => {
  const ids = Array.from({ length: 10 }, (_, index) => `s${index}`)
  const choosing = await openProject(t, ids)
  assert.deepEqual(await choosing(deepest(inSegment('s9'))), ['pro'])
})

test('the answers of tracked segments nested ten deep are known below a negation', async (t) => {
  const ids = Array.from({ length: 10 }, (_, index) => `s${index}`)
  const choosing = await openProject(t, ids, true)
  const outside = { field: 'segment.s9', operator: 'notMemberOfSegment' }
  assert.deepEqual(await choosing(deepest(outside)), ['pro'])
})

test('answers that would be too many to ask for refuse no condition', async (t) => {
  const core: TestCore = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const at = { createdAt: START, updatedAt: START }
  const contacts = ['pro', ['list']].map((value, index) => ({
    ...{ id: `${index}`, email: `${index}@a.test`, subscribed: true, data: { plan: value }, ...at },
  }))
  const full = { logic: 'AND', groups: [{ filters: Array(500).fill(plan) }] }
  const segments = ['s0', 's1', 's2'].map((id) => ({
    ...{ id, type: 'DYNAMIC' as const, hasMembershipEvents: true, members: ['0'] },
    condition: parseCondition(full, 'condition'),
  }))
  await populate(core, projectId, { contacts, events: [], segments })
  const outside = (...ids: string[]) => {
    const filters = ids.map((id) => ({ field: `segment.${id}`, operator: 'notMemberOfSegment' }))
    return parseCondition({ logic: 'AND', groups: [{ filters }] }, 'condition')
  }
  const ids = async (condition: ReturnType<typeof outside>) =>
    (await choose(core, { projectId, condition })).ids
  assert.deepEqual(await ids(outside('s0')), [])
  assert.deepEqual(await ids(outside('s0', 's1', 's2')), [])
  const namesOf = async (condition: ReturnType<typeof outside>) => {
    const findings = await findMisfits(core, { projectId, condition })
    return findings.map(({ code, severity, message }) => `${severity} ${code}: ${message}`)
  }
  const unasked = (name: string) =>
    `warning filter_unasked: For which contacts the segment "${name}" has no answer is not asked, because the ` +
    'conditions of the segments are too large together. They count as outside of it.'
  assert.deepEqual(await namesOf(outside('s0')), [])
  assert.deepEqual(await namesOf(outside('s0', 's1', 's2')), [
    unasked('Segment s1'),
    unasked('Segment s2'),
  ])
})
