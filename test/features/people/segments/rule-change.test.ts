/** The first computation and count of segments by new rules of filters. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatInstant } from '../../../../src/base/clock.ts'
import { silentLog } from '../../../../src/base/log.ts'
import { FILTER_RULES } from '../../../../src/features/ground/conditions/changed-filters.ts'
import type { Filter } from '../../../../src/features/ground/conditions/filter.ts'
import { appendEvent } from '../../../../src/features/ground/events/append.ts'
import { checkSegment } from '../../../../src/features/people/segments/check.ts'
import {
  computeSegment,
  refreshSegments,
} from '../../../../src/features/people/segments/compute.ts'
import {
  createSegment,
  updateSegment,
} from '../../../../src/features/people/segments/edit-segment.ts'
import { refreshSegment } from '../../../../src/features/people/segments/segment-contacts.ts'
import { loadSegmentRecord as viewSegment } from '../../../../src/features/people/segments/segments.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { segmentMembers, segments } from '../../../../src/store/schema/segments.ts'
import { openStore } from '../../../../src/store/store.ts'
import { addProject, openTestCore, START, type TestCore } from '../../../core.ts'
import { openBefore } from '../../../store/open-before.ts'
import { addContacts } from '../contacts/add-contacts.ts'
import { loadSegmentRecord, membersOf, segmentEvents, where } from './segment-contacts.ts'

const withoutNoMail: Filter = { field: 'data.tags', operator: 'notContains', value: 'nomail' }
const isVip: Filter = { field: 'data.tags', operator: 'contains', value: 'vip' }
const isPro: Filter = { field: 'data.plan', operator: 'equals', value: 'pro' }
const outside = (id: string): Filter => ({ field: `segment.${id}`, operator: 'notMemberOfSegment' })

const people = [
  { email: 'a@a.test', data: { tags: ['vip', 'nomail'], plan: 'pro' } },
  { email: 'b@a.test', data: { tags: ['vip'], plan: 'pro' } },
  { email: 'c@a.test', data: { tags: 'vip nomail', plan: 'pro' } },
  { email: 'd@a.test', data: { tags: 5, plan: 'free' } },
  { email: 'e@a.test', data: { plan: 'pro' } },
]

async function setUp(t: TestContext) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const ids = await addContacts(core, projectId, people)
  return { core, projectId, ids }
}

type Setting = Awaited<ReturnType<typeof setUp>>

/** A tracked segment whose member rows the rules of before have left. */
async function addOld(
  { core, projectId, ids }: Setting,
  name: string,
  { filters, members, rules = 0 }: { filters: Filter[]; members: number[]; rules?: number },
) {
  const definition = { projectId, name, condition: where(...filters), hasMembershipEvents: true }
  const { id } = await createSegment(core, definition)
  const at = core.now()
  await core.store.write(async (tx) => {
    const memberCount = members.length
    await tx.update(segments).set({ filterRules: rules, memberCount }).where(eq(segments.id, id))
    for (const index of members) {
      const row = { segmentId: id, contactId: ids[index] ?? '', enteredAt: at }
      await tx.insert(segmentMembers).values({ ...row, createdAt: at, updatedAt: at })
    }
  })
  return { projectId, id }
}

const changeData = (core: TestCore, id: string, data: Record<string, unknown>) =>
  core.store.write((tx) => tx.update(contacts).set({ data }).where(eq(contacts.id, id)))

test('what new rules change has no events, and the segment says it once', async (t) => {
  const setting = await setUp(t)
  const { core, ids } = setting
  // Rules 0 took a list for a value without parts, and so a number.
  const key = await addOld(setting, 'Mail', { filters: [withoutNoMail], members: [0, 1, 3] })
  assert.deepEqual(await computeSegment(core, key), { added: 0, removed: 2, total: 1 })
  assert.deepEqual(await membersOf(core, key.id, ids), [1])
  assert.deepEqual(await segmentEvents(core, ids), [])
  const note = {
    at: formatInstant(START),
    membersBefore: 3,
    membersAfter: 1,
    filters: [{ field: 'data.tags', operator: 'notContains' }],
  }
  assert.deepEqual((await viewSegment(core, key)).filterChange, note)

  // From then on, every change is an event.
  await changeData(core, ids[1] ?? '', { tags: ['nomail'] })
  await changeData(core, ids[0] ?? '', { tags: ['vip'] })
  await computeSegment(core, key)
  assert.deepEqual(await segmentEvents(core, ids), ['mail entry 0', 'mail exit 1'])
  assert.deepEqual((await viewSegment(core, key)).filterChange, note)
  await updateSegment(core, { ...key, changes: { condition: where(isPro) } })
  assert.equal((await viewSegment(core, key)).filterChange, undefined)
})

test('a change that the rules did not make is an event, also in the first computation', async (t) => {
  const setting = await setUp(t)
  const { core, ids } = setting
  const mixed = await addOld(setting, 'Vip', { filters: [isVip], members: [] })
  await computeSegment(core, mixed)
  assert.deepEqual(await membersOf(core, mixed.id, ids), [0, 1, 2])
  // Contact 2 has a text, which both rules read alike.
  assert.deepEqual(await segmentEvents(core, ids), ['vip entry 2'])
  const plain = await addOld(setting, 'Pro', { filters: [isPro], members: [0, 1, 3] })
  await computeSegment(core, plain)
  assert.deepEqual((await segmentEvents(core, ids)).slice(1), [
    'pro entry 2',
    'pro entry 4',
    'pro exit 3',
  ])
  assert.equal((await viewSegment(core, plain)).filterChange, undefined)
  assert.equal((await loadSegmentRecord(core, plain.id)).filterRules, FILTER_RULES)
})

test('a segment that refers to a changed one has no events either, whatever comes first', async (t) => {
  const setting = await setUp(t)
  const { core, ids } = setting
  const vip = await addOld(setting, 'Vip', { filters: [isVip], members: [2] })
  const rest = await addOld(setting, 'Rest', { filters: [outside(vip.id)], members: [0, 1, 3, 4] })
  await computeSegment(core, rest)
  assert.equal((await loadSegmentRecord(core, rest.id)).filterRules, 0)
  await computeSegment(core, vip)
  await computeSegment(core, rest)
  // Of contact 3, nobody knows whether the number contains the text.
  assert.deepEqual(await membersOf(core, rest.id, ids), [4])
  assert.deepEqual(await segmentEvents(core, ids), [])
  const { filterChange, filterRules } = await loadSegmentRecord(core, rest.id)
  assert.equal(filterRules, FILTER_RULES)
  assert.deepEqual([filterChange?.membersBefore, filterChange?.membersAfter], [4, 1])
})

const wrote: Filter = { field: 'event.email.received', operator: 'triggered' }
const isSilent: Filter = { field: 'event.email.received', operator: 'notTriggered' }

async function receive({ core, projectId, ids }: Setting, index: number, data: object) {
  const event = { projectId, name: 'email.received', contactId: ids[index] ?? '', emailId: null }
  await core.store.write((tx) => appendEvent(tx, { ...event, data: { ...data }, at: core.now() }))
}

test('mail of machines leaves and enters segments without events, mail of people with them', async (t) => {
  const setting = await setUp(t)
  const { core, ids } = setting
  await receive(setting, 0, { automatic: true })
  await receive(setting, 1, { automatic: false })
  await receive(setting, 2, { autoReply: true })
  const writers = await addOld(setting, 'Writers', {
    ...{ filters: [wrote], members: [0, 1, 2], rules: 1 },
  })
  const others = await addOld(setting, 'Others', {
    ...{ filters: [isSilent, outside(writers.id)], members: [3, 4], rules: 1 },
  })
  await receive(setting, 3, {})
  await receive(setting, 4, { isCapped: true })
  assert.deepEqual(await computeSegment(core, writers), { added: 1, removed: 2, total: 2 })
  await computeSegment(core, others)
  assert.deepEqual(await membersOf(core, writers.id, ids), [1, 3])
  assert.deepEqual(await membersOf(core, others.id, ids), [0, 2, 4])
  assert.deepEqual(await segmentEvents(core, ids), ['writers entry 3', 'others exit 3'])
  const { filterChange } = await viewSegment(core, writers)
  assert.deepEqual([filterChange?.membersBefore, filterChange?.filters], [3, [wrote]])
  assert.equal((await loadSegmentRecord(core, writers.id)).filterRules, FILTER_RULES)
})

test('rules that a segment knows already change nothing without events', async (t) => {
  const setting = await setUp(t)
  const { core, ids } = setting
  const known = { filters: [withoutNoMail], members: [0, 1], rules: 1 }
  const key = await addOld(setting, 'Mail', known)
  await computeSegment(core, key)
  assert.deepEqual(await segmentEvents(core, ids), ['mail exit 0'])
  const { filterChange, filterRules } = await loadSegmentRecord(core, key.id)
  assert.deepEqual([filterChange, filterRules], [null, FILTER_RULES])
  const definition = { projectId: setting.projectId, name: 'New', condition: where(wrote) }
  const { id } = await createSegment(core, definition)
  assert.equal((await loadSegmentRecord(core, id)).filterRules, FILTER_RULES)
})

test('a check counts the contacts whose automatic mail a filter leaves out', async (t) => {
  const setting = await setUp(t)
  const { core, projectId } = setting
  for (const index of [0, 0, 1]) await receive(setting, index, { automatic: true })
  await receive(setting, 2, {})
  const { id } = await createSegment(core, { projectId, name: 'All', condition: where(wrote) })
  const { findings } = await checkSegment(core, { projectId, id })
  assert.deepEqual(
    findings.map(({ code, severity, message }) => `${severity} ${code}: ${message}`),
    [
      'info filter_leaves_out_mail: event.email.received triggered means mail of a person. 2 contacts have mail that a machine seems to have sent, which does not count.',
    ],
  )
})

test('a computation that was interrupted keeps the number of members before it', async (t) => {
  const setting = await setUp(t)
  const { core } = setting
  const key = await addOld(setting, 'Mail', { filters: [withoutNoMail], members: [0, 1, 3] })
  let writes = 0
  const write: TestCore['store']['write'] = (fn, options) => {
    writes += 1
    if (writes === 2) throw new TypeError('killed')
    return core.store.write(fn, options)
  }
  const killed = { ...core, store: { ...core.store, write } }
  await assert.rejects(computeSegment(killed, key), /killed/)
  await computeSegment(core, key)
  const { filterChange } = await viewSegment(core, key)
  assert.deepEqual([filterChange?.membersBefore, filterChange?.membersAfter], [3, 1])
})

test('a segment without events gets its note from the count', async (t) => {
  const { core, projectId } = await setUp(t)
  const definition = { projectId, name: 'Mail', condition: where(withoutNoMail) }
  const { id } = await createSegment(core, definition)
  await core.store.write((tx) =>
    tx.update(segments).set({ filterRules: 0, memberCount: 3 }).where(eq(segments.id, id)),
  )
  await refreshSegment(core, { projectId, id })
  const { filterChange } = await viewSegment(core, { projectId, id })
  assert.deepEqual([filterChange?.membersBefore, filterChange?.membersAfter], [3, 1])
  assert.equal((await loadSegmentRecord(core, id)).filterRules, FILTER_RULES)
})

test('a database of before has its segments computed silently, once', async (t) => {
  const { before, file } = await openBefore(t, 26)
  const condition = JSON.stringify(where(withoutNoMail))
  await before.write(async (tx) => {
    await tx.run(sql`insert into projects (id, name, public_key, secret_digest, secret_hint,
      created_at, updated_at) values ('p', 'P', 'pk_p', '01', 'hint', 1, 1)`)
    await tx.run(
      sql`insert into segments (id, project_id, name, type, condition, track_membership, created_at, updated_at)
        values ('dynamic', 'p', 'D', 'DYNAMIC', ${condition}, 1, 1, 1), ('static', 'p', 'S', 'STATIC', null, 0, 1, 1)`,
    )
  })
  await before.close()
  const store = await openStore({ path: file, log: silentLog() })
  t.after(() => store.close())
  const rows = await store.read.select().from(segments)
  const shown = rows.map(({ id, filterRules, filterChange }) => [id, filterRules, filterChange])
  assert.deepEqual(shown.sort(), [
    ['dynamic', 0, null],
    ['static', 1, null],
  ])
})

test('a damaged segment keeps its members without events, and the check says why', async (t) => {
  const setting = await setUp(t)
  const { core, projectId, ids } = setting
  const key = await addOld(setting, 'Vip', { filters: [isVip], members: [1, 2] })
  const damaged = { logic: 'AND', groups: [{ filters: [{ field: 'data.x', operator: 'near' }] }] }
  await core.store.write((tx) =>
    tx.update(segments).set({ condition: damaged }).where(eq(segments.id, key.id)),
  )
  await refreshSegments(core, new AbortController().signal)
  assert.deepEqual(await membersOf(core, key.id, ids), [1, 2])
  assert.deepEqual(await segmentEvents(core, ids), [])
  const { findings } = await checkSegment(core, key)
  assert.deepEqual(
    findings.map(({ code, severity }) => [code, severity]),
    [['condition_invalid', 'error']],
  )
  assert.match(findings[0]?.message ?? '', /^The segment "Vip" has a condition that cannot be read/)
  assert.deepEqual((await checkSegment(core, { projectId, id: key.id })).findings, findings)
})

test('a check counts what a filter cannot judge, and names what nobody has', async (t) => {
  const { core, projectId } = await setUp(t)
  const bought: Filter = { field: 'event.bought', operator: 'notTriggered' }
  const age: Filter = { field: 'data.age', operator: 'notExists' }
  const condition = where(withoutNoMail, isPro, bought, age)
  const { id } = await createSegment(core, { projectId, name: 'All', condition })
  const { findings } = await checkSegment(core, { projectId, id })
  assert.deepEqual(
    findings.map(({ code, severity, message }) => `${severity} ${code}: ${message}`),
    [
      'warning filter_unanswered: For 1 contact there is no answer to data.tags notContains, because their value has another type. They are not selected.',
      'warning filter_unknown_name: The event bought does not exist, so its filter selects everybody.',
      'warning filter_unknown_name: The field data.age does not exist, so its filter selects everybody.',
      'info filter_searches_lists: 2 contacts have a list there, which data.tags notContains searches by element.',
    ],
  )
})
