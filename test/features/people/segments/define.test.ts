import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../../src/base/errors.ts'
import {
  addMembers,
  deleteMemberships,
} from '../../../../src/features/people/segments/edit-members.ts'
import {
  createSegment,
  deleteSegment,
  updateSegment,
} from '../../../../src/features/people/segments/edit-segment.ts'
import { loadSegmentRecord } from '../../../../src/features/people/segments/segments.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import { segmentMembers, segments } from '../../../../src/store/schema/segments.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { listSegments } from '../../../lists.ts'
import { addContacts } from '../contacts/add-contacts.ts'
import { inSegment, makeContacts, planIs } from './segment-contacts.ts'

const isCoded = (code: string, field?: string) => (error: unknown) =>
  error instanceof AppError &&
  error.code === code &&
  (field === undefined || error.fields?.[0]?.field === field)

test('a dynamic segment is counted when it is made and when its condition changes', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const other = await addProject(core, 'Other')
  await addContacts(core, projectId, [
    ...makeContacts(3),
    { email: 'x@y.test', data: { plan: 'free' } },
  ])
  await addContacts(core, other.id, makeContacts(5))
  const made = await createSegment(core, { projectId, name: 'Pro', condition: planIs('pro') })
  assert.deepEqual(
    [made.memberCount, made.type, made.trackMembership, made.description],
    [3, 'DYNAMIC', false, null],
  )
  assert.deepEqual(made.condition, planIs('pro'))
  const target = { projectId, id: made.id }
  core.clock.now += 1000
  const changed = await updateSegment(core, {
    ...target,
    changes: { condition: planIs('free'), description: 'Those' },
  })
  assert.deepEqual([changed.memberCount, changed.description], [1, 'Those'])
  assert.ok(changed.updatedAt > made.updatedAt)
  const cleared = await updateSegment(core, { ...target, changes: { description: null } })
  assert.equal(cleared.description, null)
  assert.deepEqual(await loadSegmentRecord(core, target), cleared)
  assert.equal(await core.store.read.$count(events), 0)
  assert.equal(await core.store.read.$count(segmentMembers), 0)
})

test('an update without a change keeps the time of the last change', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const made = await createSegment(core, { projectId, name: 'Pro', condition: planIs('pro') })
  core.clock.now += 1000
  await addContacts(core, projectId, makeContacts(2))
  const changes = { name: 'Pro', condition: planIs('pro'), hasMembershipEvents: false }
  const same = await updateSegment(core, { projectId, id: made.id, changes })
  assert.deepEqual([same.updatedAt, same.memberCount], [made.updatedAt, 2])
})

test('a segment that lacks a field of its type is refused and not created', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const of = (input: object) => createSegment(core, { projectId, name: 'A', ...input })
  await assert.rejects(of({}), isCoded('VALIDATION_ERROR', 'condition'))
  await assert.rejects(of({ condition: null }), isCoded('VALIDATION_ERROR', 'condition'))
  const both = { type: 'STATIC', condition: planIs('pro') }
  await assert.rejects(of(both), isCoded('VALIDATION_ERROR', 'condition'))
  const bad = { logic: 'AND', groups: [{ filters: [{ field: 'data.a', operator: 'is' }] }] }
  const at = 'condition.groups.0.filters.0.operator'
  await assert.rejects(of({ condition: bad }), isCoded('VALIDATION_ERROR', at))
  const condition = planIs('pro')
  await assert.rejects(of({ condition, name: '' }), isCoded('VALIDATION_ERROR', 'name'))
  const long = { name: 'n'.repeat(101), description: 'd'.repeat(501) }
  await assert.rejects(of({ condition, ...long }), isCoded('VALIDATION_ERROR', 'name'))
  await assert.rejects(of({ condition, name: 'a\nb' }), isCoded('VALIDATION_ERROR', 'name'))
  await assert.rejects(of({ condition: inSegment(newId()) }), isCoded('BAD_REQUEST'))
  assert.equal(await core.store.read.$count(segments), 0)
})

test('the type cannot change, and a condition for a static segment is ignored', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const made = await createSegment(core, { projectId, name: 'List', type: 'STATIC' })
  const target = { projectId, id: made.id }
  const dynamic = { type: 'DYNAMIC' as const }
  await assert.rejects(updateSegment(core, { ...target, changes: dynamic }), isCoded('BAD_REQUEST'))
  const changes = { type: 'STATIC' as const, condition: { any: 'thing' }, name: 'Lists' }
  const changed = await updateSegment(core, { ...target, changes })
  assert.deepEqual([changed.name, changed.condition, changed.type], ['Lists', null, 'STATIC'])
  const own = await createSegment(core, { projectId, name: 'Pro', condition: planIs('pro') })
  await assert.rejects(
    updateSegment(core, { projectId, id: own.id, changes: { condition: null } }),
    isCoded('VALIDATION_ERROR', 'condition'),
  )
})

test('a project has at most a thousand segments, without those of other projects', async (t) => {
  const core = await openTestCore(t)
  const [full, other] = [await addProject(core), await addProject(core, 'Other')]
  const make = (projectId: string) =>
    createSegment(core, { projectId, name: 'One', type: 'STATIC' })
  const { id } = await make(full.id)
  await core.store.write((tx) =>
    tx.run(sql`insert into segments (id, project_id, name, created_at, updated_at)
      select ${id} || value, ${full.id}, 'Many', 0, 0 from json_each(${JSON.stringify(Array.from({ length: 999 }, (_, at) => at))})`),
  )
  await assert.rejects(make(full.id), { code: 'BAD_REQUEST' })
  await make(other.id)
})

test('segments cannot refer to each other in a loop', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const a = await createSegment(core, { projectId, name: 'A', condition: planIs('pro') })
  const b = await createSegment(core, { projectId, name: 'B', condition: inSegment(a.id) })
  const c = await createSegment(core, { projectId, name: 'C', condition: inSegment(b.id) })
  for (const { id } of [a, c]) {
    const changes = { condition: inSegment(id) }
    await assert.rejects(
      updateSegment(core, { projectId, id: a.id, changes }),
      isCoded('BAD_REQUEST'),
    )
  }
  assert.deepEqual(
    (await loadSegmentRecord(core, { projectId, id: a.id })).condition,
    planIs('pro'),
  )
})

test('two concurrent changes cannot make a loop', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const a = await createSegment(core, { projectId, name: 'A', condition: planIs('pro') })
  const b = await createSegment(core, { projectId, name: 'B', condition: planIs('pro') })
  const refer = (id: string, to: string) =>
    updateSegment(core, { projectId, id, changes: { condition: inSegment(to) } })
  const done = await Promise.allSettled([refer(a.id, b.id), refer(b.id, a.id)])
  const states = done.map(({ status }) => status).sort()
  assert.deepEqual(states, ['fulfilled', 'rejected'])
})

test('a segment that others refer to is not deleted, and the error names them', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const of = (name: string, condition: object) =>
    createSegment(core, { projectId, name, condition })
  const base = await of('Base', planIs('pro'))
  const user = await of('User', inSegment(base.id))
  // The text contains the id, but not as a reference.
  await of('Namesake', planIs(base.id))
  const target = { projectId, id: base.id }
  await assert.rejects(deleteSegment(core, target), (error) => {
    assert.ok(isCoded('CONFLICT')(error) && error instanceof AppError)
    assert.deepEqual(error.details, {
      segments: [{ id: user.id, name: 'User' }],
      campaigns: [],
      workflows: [],
    })
    return true
  })
  await deleteSegment(core, { projectId, id: user.id })
  await deleteSegment(core, target)
  await assert.rejects(loadSegmentRecord(core, target), isCoded('RESOURCE_NOT_FOUND'))
  assert.equal(await core.store.read.$count(jobs), 0)
})

test('a deleted segment is not found at once; a job deletes its member rows and no others', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await addContacts(core, projectId, makeContacts(700))
  const emails = makeContacts(700).map(({ email }) => email)
  const [one, other] = await Promise.all(
    ['One', 'Other'].map((name) => createSegment(core, { projectId, name, type: 'STATIC' })),
  )
  assert.ok(one && other)
  for (const id of [one.id, other.id]) {
    await addMembers(core, { projectId, id, emails: emails.slice(0, 350) })
    await addMembers(core, { projectId, id, emails: emails.slice(350) })
  }
  let notifications = 0
  core.jobNotifier.listen(() => {
    notifications += 1
  })
  await deleteSegment(core, { projectId, id: one.id })
  assert.equal(notifications, 1)
  await assert.rejects(
    loadSegmentRecord(core, { projectId, id: one.id }),
    isCoded('RESOURCE_NOT_FOUND'),
  )
  const [job] = await core.store.read.select().from(jobs)
  assert.equal(job?.kind, 'clear-segment')
  const { signal } = new AbortController()
  await deleteMemberships(core, { payload: job?.payload, signal })
  await deleteMemberships(core, { payload: job?.payload, signal })
  const left = await core.store.read.select().from(segmentMembers)
  assert.equal(left.length, 700)
  assert.ok(left.every(({ segmentId }) => segmentId === other.id))
  assert.equal((await loadSegmentRecord(core, { projectId, id: other.id })).memberCount, 700)
  assert.equal(await core.store.read.$count(events), 0)
})

test('the job that deletes member rows stops with the program', async (t) => {
  const core = await openTestCore(t)
  const payload = { segmentId: newId() }
  const signal = AbortSignal.abort(new Error('stopping'))
  await assert.rejects(deleteMemberships(core, { payload, signal }), /stopping/)
  const running = new AbortController().signal
  await assert.rejects(deleteMemberships(core, { payload: {}, signal: running }), TypeError)
})

test("another project's segment can be neither seen, changed, named nor deleted", async (t) => {
  const core = await openTestCore(t)
  const mine = await addProject(core)
  const other = await addProject(core, 'Other')
  const condition = planIs('pro')
  const theirs = await createSegment(core, { projectId: other.id, name: 'Theirs', condition })
  const target = { projectId: mine.id, id: theirs.id }
  const isGone = isCoded('RESOURCE_NOT_FOUND')
  await assert.rejects(loadSegmentRecord(core, target), isGone)
  await assert.rejects(updateSegment(core, { ...target, changes: { name: 'Mine' } }), isGone)
  await assert.rejects(deleteSegment(core, target), isGone)
  const named = { projectId: mine.id, name: 'Mine', condition: inSegment(theirs.id) }
  await assert.rejects(createSegment(core, named), isCoded('BAD_REQUEST'))
  assert.deepEqual(await listSegments(core, { projectId: mine.id }), [])
  assert.deepEqual(await listSegments(core, { projectId: other.id }), [theirs])
})

test('the list has all segments, newest first', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  for (let index = 0; index < 30; index += 1) {
    core.clock.now += index % 3
    await createSegment(core, { projectId, name: `S${index}`, type: 'STATIC' })
  }
  const names = (await listSegments(core, { projectId })).map(({ name }) => name)
  assert.deepEqual(
    names,
    Array.from({ length: 30 }, (_, index) => `S${29 - index}`),
  )
})
