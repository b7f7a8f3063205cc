/** Segments in conditions: members, nested conditions, loops, limits. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileCondition } from '../../../../src/features/ground/conditions/compile.ts'
import {
  type Condition,
  parseCondition,
} from '../../../../src/features/ground/conditions/condition.ts'
import { and, eq } from '../../../../src/store/drizzle.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { segments } from '../../../../src/store/schema/segments.ts'
import { addProject, openTestCore, START, type TestCore } from '../../../core.ts'
import type { TestContact, TestSegment } from './evaluator.ts'
import { populate } from './population.ts'

const isPro = { field: 'data.plan', operator: 'equals', value: 'pro' }
const inSegment = (id: string) => ({ field: `segment.${id}`, operator: 'memberOfSegment' })
const notInSegment = (id: string) => ({ field: `segment.${id}`, operator: 'notMemberOfSegment' })

function all(...filters: unknown[]): Condition {
  return parseCondition({ logic: 'AND', groups: [{ filters }] }, 'condition')
}

const planContacts: TestContact[] = ['pro', 'free', 'pro', null].map((plan, index) => ({
  id: `contact-${index}`,
  email: `p${index}@a.test`,
  subscribed: true,
  data: plan === null ? null : { plan },
  createdAt: START,
  updatedAt: START,
}))

function dynamic(id: string, condition: Condition, facts: Partial<TestSegment> = {}): TestSegment {
  return { id, type: 'DYNAMIC', hasMembershipEvents: false, condition, members: [], ...facts }
}

function listed(id: string, members: string[], facts: Partial<TestSegment> = {}): TestSegment {
  return { id, type: 'STATIC', hasMembershipEvents: false, condition: null, members, ...facts }
}

type Setting = { core: TestCore; projectId: string }

async function setUp(
  t: Parameters<typeof openTestCore>[0],
  segments: TestSegment[],
): Promise<Setting> {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await populate(core, projectId, { contacts: planContacts, events: [], segments })
  return { core, projectId }
}

async function choose({ core, projectId }: Setting, condition: Condition): Promise<string[]> {
  const expression = await compileCondition(core, { projectId, condition })
  const rows = await core.store.scan
    .select({ id: contacts.id })
    .from(contacts)
    .where(and(eq(contacts.projectId, projectId), expression))
    .orderBy(contacts.number)
  return rows.map(({ id }) => id)
}

test('members come from member rows, or from the condition of a segment without them', async (t) => {
  const setting = await setUp(t, [
    listed('static', ['contact-1', 'contact-3']),
    // The condition is not used, because the members are computed from time to time.
    dynamic('tracked', all(isPro), { hasMembershipEvents: true, members: ['contact-1'] }),
    dynamic('untracked', all(isPro)),
    dynamic('nested', all(notInSegment('untracked'), inSegment('static'))),
  ])
  const cases: [unknown, string[]][] = [
    [inSegment('static'), ['1', '3']],
    [notInSegment('static'), ['0', '2']],
    [inSegment('tracked'), ['1']],
    [notInSegment('tracked'), ['0', '2', '3']],
    [inSegment('untracked'), ['0', '2']],
    // A contact without the field is not in the segment.
    [notInSegment('untracked'), ['1', '3']],
    [inSegment('nested'), ['1', '3']],
    [notInSegment('nested'), ['0', '2']],
  ]
  for (const [filter, wanted] of cases) {
    const chosen = await choose(setting, all(filter))
    assert.deepEqual(
      chosen,
      wanted.map((index) => `contact-${index}`),
      JSON.stringify(filter),
    )
  }
})

test('a former member is not a member', async (t) => {
  const { core, projectId } = await setUp(t, [])
  const [left, stayed] = ['contact-f', 'contact-g'].map((id) => ({
    ...(planContacts[0] as TestContact),
    id,
    email: `${id}@a.test`,
  }))
  await populate(core, projectId, {
    contacts: [left as TestContact, stayed as TestContact],
    events: [],
    segments: [listed('listed', ['contact-g'])],
  })
  assert.deepEqual(await choose({ core, projectId }, all(inSegment('listed'))), ['contact-g'])
})

test('a missing segment and a segment of another project are refused', async (t) => {
  const { core, projectId } = await setUp(t, [listed('theirs', ['contact-0'])])
  const { id: other } = await addProject(core)
  assert.equal((await choose({ core, projectId }, all(inSegment('theirs')))).length, 1)
  for (const condition of [all(inSegment('theirs')), all(notInSegment('theirs'))]) {
    await assert.rejects(choose({ core, projectId: other }, condition), {
      code: 'BAD_REQUEST',
      status: 400,
      message: 'There is no segment "theirs" in this project.',
    })
  }
  await assert.rejects(choose({ core, projectId }, all(inSegment('x'.repeat(900)))), {
    code: 'BAD_REQUEST',
    message: `There is no segment "${'x'.repeat(60)}…" in this project.`,
  })
})

test('nobody is said to be in or out of a segment that cannot be judged any more', async (t) => {
  const tracked = { hasMembershipEvents: true, members: ['contact-2'] }
  const damaged = { logic: 'AND', groups: [{ filters: [{ field: 'plan', operator: 'equals' }] }] }
  const setting = await setUp(t, [
    dynamic('of-a-deleted-one', all(inSegment('gone'))),
    dynamic('tracked-of-a-deleted-one', all(inSegment('gone')), tracked),
    dynamic('without-condition', all(isPro), { condition: null }),
    dynamic('tracked-without-condition', all(isPro), { ...tracked, condition: null }),
    dynamic('damaged', damaged as Condition),
    dynamic('tracked-damaged', damaged as Condition, tracked),
    dynamic('of-a-damaged-one', all(notInSegment('damaged'))),
  ])
  for (const { id } of await setting.core.store.read.select().from(segments)) {
    for (const filter of [inSegment(id), notInSegment(id)]) {
      await assert.rejects(choose(setting, all(filter)), { code: 'BAD_REQUEST', status: 400 }, id)
    }
  }
  await assert.rejects(choose(setting, all(inSegment('of-a-damaged-one'))), {
    message:
      'The segment "Segment damaged" has a condition that cannot be read (condition.groups.0.filters.0.field: ' +
      'Unknown field; expected one of email, subscribed, createdAt, updatedAt, data.<key>, ' +
      'event.<name>, email.<activity>, segment.<id>. Data is "data.plan"), so it selects nobody.',
  })
})

test('segments that refer to each other in a loop are refused', async (t) => {
  const { core, projectId } = await setUp(t, [
    dynamic('self', all(inSegment('self'))),
    dynamic('a', all(isPro, inSegment('b'))),
    dynamic('b', all(notInSegment('c'))),
    dynamic('c', all(inSegment('a'))),
    dynamic('tracked', all(inSegment('new')), { hasMembershipEvents: true }),
    dynamic('beside', all(inSegment('leaf'), inSegment('other'))),
    dynamic('other', all(inSegment('leaf'))),
    listed('leaf', []),
  ])
  const loop = { code: 'BAD_REQUEST', status: 400, message: /loop/ }
  for (const id of ['self', 'a', 'b', 'c']) {
    await assert.rejects(choose({ core, projectId }, all(inSegment(id))), loop, id)
  }
  // The segment under change is part of the loop, regardless of its old condition.
  const define = (ofSegmentId: string, condition: Condition) =>
    compileCondition(core, { projectId, condition, ofSegmentId })
  await assert.rejects(define('leaf', all(inSegment('leaf'))), loop)
  await assert.rejects(define('leaf', all(inSegment('other'))), loop)
  await assert.rejects(define('new', all(inSegment('tracked'))), loop)
  await assert.rejects(define('new', all(notInSegment('new'))), loop)
  // Two paths to one segment are not a loop.
  assert.ok(await define('new', all(inSegment('beside'), inSegment('leaf'))))
  // A new condition may break the loop of the old one.
  assert.ok(await define('c', all(isPro)))
})

test('a loop is found through a long chain of segments with membership events', async (t) => {
  const chain = Array.from({ length: 300 }, (_, index) =>
    dynamic(`s${index}`, all(inSegment(`s${(index + 1) % 300}`)), { hasMembershipEvents: true }),
  )
  const setting = await setUp(t, chain)
  await assert.rejects(choose(setting, all(inSegment('s0'))), { message: /loop/ })
})

test('each segment is visited once, even when many paths lead to it', async (t) => {
  const layers = Array.from({ length: 40 }, (_, layer) =>
    ['a', 'b'].map((side) => {
      const below = [inSegment(`a${layer + 1}`), inSegment(`b${layer + 1}`)]
      const condition = layer < 39 ? all(...below) : all(isPro)
      return dynamic(`${side}${layer}`, condition, { hasMembershipEvents: true })
    }),
  )
  const setting = await setUp(t, layers.flat())
  assert.deepEqual(await choose(setting, all(notInSegment('a0'), isPro)), [
    'contact-0',
    'contact-2',
  ])
})

test('segments nest ten deep', async (t) => {
  const setting = await setUp(t, [
    dynamic('s0', all(isPro)),
    ...Array.from({ length: 10 }, (_, index) =>
      dynamic(`s${index + 1}`, all(inSegment(`s${index}`))),
    ),
  ])
  assert.deepEqual(await choose(setting, all(inSegment('s9'))), ['contact-0', 'contact-2'])
  await assert.rejects(choose(setting, all(inSegment('s10'))), {
    code: 'BAD_REQUEST',
    message: /at most segments 10 deep/,
  })
})

test('segments whose references multiply are refused', async (t) => {
  const fifty = (id: string) => all(...Array.from({ length: 50 }, () => inSegment(id)))
  const setting = await setUp(t, [
    dynamic('s0', all(isPro)),
    ...Array.from({ length: 8 }, (_, index) => dynamic(`s${index + 1}`, fifty(`s${index}`))),
  ])
  assert.equal((await choose(setting, all(inSegment('s1')))).length, 2)
  for (const id of ['s2', 's8']) {
    await assert.rejects(choose(setting, all(inSegment(id))), {
      code: 'BAD_REQUEST',
      message: /at most 1000 filters/,
    })
  }
})
