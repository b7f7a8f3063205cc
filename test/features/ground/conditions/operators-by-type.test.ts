/**
 * Every operator on data against every type of stored value: in SQL, under `notMemberOfSegment`, and in a
 * CONDITION of a workflow. `yes`, `no`, or `-` where there is no answer, under negation neither.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseCondition } from '../../../../src/features/ground/conditions/condition.ts'
import { chooseBranch } from '../../../../src/features/outreach/workflows/engine/steps/condition.ts'
import {
  CONDITION_OPERATORS,
  type ConditionOperator,
} from '../../../../src/features/outreach/workflows/graph/step-config.ts'
import { OPERATORS_BY_KIND } from '../../../../src/records/operators.ts'
import { segmentMembers } from '../../../../src/store/schema/segments.ts'
import { addProject, openTestCore, START, type TestCore } from '../../../core.ts'
import type { TestContact } from './evaluator.ts'
import { choose, populate } from './population.ts'

const STORED: Record<string, unknown> = {
  missing: undefined,
  null: null,
  text: 'pro',
  otherText: 'free',
  empty: '',
  digits: '5',
  number: 5,
  otherNumber: 6,
  true: true,
  false: false,
  date: '2026-11-20',
  instant: '2026-11-20T08:00:00.000Z',
  list: ['pro', 'x'],
  otherList: ['free'],
  emptyList: [],
  listOfNumbers: [5],
  object: { pro: 'pro' },
}
const names = Object.keys(STORED)
const values = Object.values(STORED)

type Row = [operator: string, value: unknown, answers: string]

/** The answers in the order of `STORED`; `wf:` those of a workflow where they differ. */
const TABLE: Row[] = [
  //                          missing null text other empty digits num other true false date instant lists... object
  ['exists', undefined, 'no no yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes'],
  ['notExists', undefined, 'yes yes no no no no no no no no no no no no no no no'],
  ['equals', 'pro', 'no no yes no no no no no no no no no - - - - -'],
  ['equals', 5, 'no no no no no no yes no no no no no - - - - -'],
  ['equals', true, 'no no no no no no no no yes no no no - - - - -'],
  ['equals', '2026-11-20', 'no no no no no no no no no no yes yes - - - - -'],
  ['notEquals', 'pro', 'no no no yes yes yes yes yes yes yes yes yes - - - - -'],
  ['notEquals', 5, 'no no yes yes yes yes no yes yes yes yes yes - - - - -'],
  ['notEquals', true, 'no no yes yes yes yes yes yes no yes yes yes - - - - -'],
  ['notEquals', '2026-11-20', 'no no yes yes yes yes yes yes yes yes no no - - - - -'],
  ['contains', 'pro', 'no no yes no no no - - - - no no yes no no no -'],
  ['contains', 5, 'no no no no no yes - - - - no no no no no yes -'],
  ['notContains', 'pro', 'no no no yes yes yes - - - - yes yes no yes yes yes -'],
  ['notContains', 5, 'no no yes yes yes no - - - - yes yes yes yes yes no -'],
  ['in', ['pro', 5], 'no no yes no no no yes no no no no no yes no no yes -'],
  ['in', ['2026-11-20'], 'no no no no no no no no no no yes yes no no no no -'],
  ['notIn', ['pro', 5], 'no no no yes yes yes no yes yes yes yes yes no yes yes no -'],
  ['notIn', ['2026-11-20'], 'no no yes yes yes yes yes yes yes yes no no yes yes yes yes -'],
  ['greaterThan', 5, 'no no - - - - no yes - - - - - - - - -'],
  ['greaterThanOrEqual', 5, 'no no - - - - yes yes - - - - - - - - -'],
  ['lessThan', 6, 'no no - - - - yes no - - - - - - - - -'],
  ['lessThanOrEqual', 5, 'no no - - - - yes no - - - - - - - - -'],
  ['greaterThan', 'n', 'no no yes no no no - - - - no no - - - - -'],
  ['lessThan', 'n', 'no no no yes yes yes - - - - yes yes - - - - -'],
]

/** With `value` in days before `START`. */
const SPANS: Row[] = [
  ['within', 2, 'no no - - - - - - - - yes yes - - - - -'],
  ['olderThan', 2, 'no no - - - - - - - - no no - - - - -'],
]

async function setUp(t: Parameters<typeof openTestCore>[0], stored: readonly unknown[]) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const contacts = stored.map((value, index): TestContact => {
    const data = value === undefined ? { other: 1 } : { k: value }
    const at = { createdAt: START, updatedAt: START }
    return { id: `c${index}`, email: `c${index}@a.test`, subscribed: true, data, ...at }
  })
  await populate(core, projectId, { contacts, events: [], segments: [] })
  return { core, projectId }
}

type Setting = { core: TestCore; projectId: string }

let made = 0

/** What SQL says of each contact, read from the filter and from its negation by a segment. */
async function answersOf({ core, projectId }: Setting, filter: unknown, count: number) {
  const condition = parseCondition({ logic: 'AND', groups: [{ filters: [filter] }] }, 'condition')
  made += 1
  const id = `segment-${made}`
  const segment = { id, type: 'DYNAMIC' as const, hasMembershipEvents: false, members: [] }
  const { ids: yes } = await choose(core, { projectId, condition })
  const tracked = { ...segment, id: `${id}-tracked`, hasMembershipEvents: true }
  const segments = [
    { ...segment, condition },
    { ...tracked, condition },
  ]
  await populate(core, projectId, { contacts: [], events: [], segments })
  const at = START
  const member = { segmentId: tracked.id, enteredAt: at, createdAt: at, updatedAt: at }
  await core.store.write(async (tx) => {
    for (const contactId of yes) await tx.insert(segmentMembers).values({ ...member, contactId })
  })
  const notIn = async (segmentId: string) => {
    const negation = { field: `segment.${segmentId}`, operator: 'notMemberOfSegment' }
    const negated = parseCondition({ logic: 'OR', groups: [{ filters: [negation] }] }, 'condition')
    return (await choose(core, { projectId, condition: negated })).ids
  }
  const no = await notIn(id)
  assert.deepEqual(await notIn(tracked.id), no, 'with and without member rows')
  return Array.from({ length: count }, (_, index) => {
    const [isYes, isNo] = [yes.includes(`c${index}`), no.includes(`c${index}`)]
    assert.ok(!(isYes && isNo), `${JSON.stringify(filter)} and its negation select c${index}`)
    return isYes ? 'yes' : isNo ? 'no' : '-'
  })
}

const named = (answers: readonly string[]) =>
  names.map((name, index) => `${name} ${answers[index]}`)

test('every operator has the answer of the table for every type of value', async (t) => {
  const setting = await setUp(t, values)
  for (const [operator, value, wanted] of [...TABLE, ...SPANS]) {
    const unit = SPANS.some(([name]) => name === operator) ? { unit: 'days' } : {}
    const filter = { field: 'data.k', operator, ...(value === undefined ? {} : { value }), ...unit }
    const answers = await answersOf(setting, filter, values.length)
    const what = `${operator} ${JSON.stringify(value)}`
    assert.deepEqual(named(answers), named(wanted.split(' ')), what)
  }
  const tested = new Set([...TABLE, ...SPANS].map(([operator]) => operator))
  assert.deepEqual([...tested].sort(), [...OPERATORS_BY_KIND.data].sort())
})

test('a group with a filter without an answer selects nobody, another group goes on', async (t) => {
  const setting = await setUp(t, [{ pro: 1 }, 'free', ['x']])
  const { core, projectId } = setting
  const unanswered = { field: 'data.k', operator: 'notContains', value: 'pro' }
  const always = { field: 'subscribed', operator: 'equals', value: true }
  const ids = async (logic: 'AND' | 'OR', ...groups: unknown[][]) => {
    const written = { logic, groups: groups.map((filters) => ({ filters })) }
    const condition = parseCondition(written, 'condition')
    return (await choose(core, { projectId, condition })).ids
  }
  assert.deepEqual(await ids('AND', [unanswered, always]), ['c1', 'c2'])
  assert.deepEqual(await ids('OR', [unanswered], [{ ...always, value: false }]), ['c1', 'c2'])
  assert.deepEqual(await ids('OR', [unanswered], [always]), ['c0', 'c1', 'c2'])
})

/**
 * The differences of contract 5.5: numbers are converted, dates are texts, null may be expected. Contract
 * 4.3 has none of them.
 */
function isApart(operator: string, value: unknown, stored: unknown): boolean {
  const isDate = (one: unknown) => typeof one === 'string' && /^\d{4}-\d\d-\d\d(?:T|$)/.test(one)
  if (/Than/.test(operator)) return typeof stored !== 'number' || typeof value !== 'number'
  return isDate(stored) && [value].flat().some(isDate)
}

const scalar = fc.oneof(
  fc.constantFrom('pro', 'Pro', 'p', '5', '', ' ', 'true', '["pro"]', '2026-11-20', 'a"b', 'é'),
  fc.constantFrom('2026-11-20T08:00:00.000Z', '\\', 'x\ny'),
  fc.constantFrom(0, 1, 5, -1.5, 1e21, 2 ** 53 + 2),
  fc.boolean(),
)
const stored = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 3, arbitrary: fc.array(fc.oneof(scalar, fc.constant(null)), { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(undefined, null, {}, { pro: 'pro' }, [['pro']]) },
)

function operandOf(operator: ConditionOperator): fc.Arbitrary<unknown> {
  if (operator === 'exists' || operator === 'notExists') return fc.constant(undefined)
  if (operator === 'in' || operator === 'notIn')
    return fc.array(scalar, { minLength: 1, maxLength: 3 })
  if (/Than/.test(operator)) return scalar.filter((value) => typeof value !== 'boolean')
  return scalar.filter((value) => value !== '' || !/ontains/.test(operator))
}

const comparison = fc
  .constantFrom(...CONDITION_OPERATORS)
  .chain((operator) => fc.record({ operator: fc.constant(operator), value: operandOf(operator) }))

test('a workflow answers as a filter does', async (t) => {
  const seed = fc.sample(fc.integer(), 1)[0] ?? 0
  const people = [...values, ...fc.sample(stored, { numRuns: 150, seed })]
  const setting = await setUp(t, people)
  const check = fc.asyncProperty(comparison, async ({ operator, value }) => {
    const filter = { field: 'data.k', operator, ...(value === undefined ? {} : { value }) }
    const answers = await answersOf(setting, filter, people.length)
    for (const [index, actual] of people.entries()) {
      if (isApart(operator, value, actual)) continue
      const branch = chooseBranch({ field: 'data.k', operator, value }, actual)
      const what = `${JSON.stringify(actual)} ${operator} ${JSON.stringify(value)}`
      assert.equal(branch, answers[index] === 'yes' ? 'yes' : 'no', what)
    }
  })
  await fc.assert(check, { numRuns: 120, seed })
})
