import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../../src/base/errors.ts'
import { addMembers, deleteMembers } from '../../../../src/features/people/segments/edit-members.ts'
import { createSegment } from '../../../../src/features/people/segments/edit-segment.ts'
import { refreshSegment } from '../../../../src/features/people/segments/segment-contacts.ts'
import { and, eq, inArray, sql } from '../../../../src/store/drizzle.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { segmentMembers, segments } from '../../../../src/store/schema/segments.ts'
import { addProject, openTestCore, type TestCore } from '../../../core.ts'
import { listSegmentContacts } from '../../../lists.ts'
import { addContacts } from '../contacts/add-contacts.ts'
import { loadSegmentRecord, makeContacts, membersOf, planIs } from './segment-contacts.ts'

const isCoded = (code: string) => (error: unknown) =>
  error instanceof AppError && error.code === code

async function openList(t: Parameters<typeof openTestCore>[0]) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const { id } = await createSegment(core, { projectId, name: 'List', type: 'STATIC' })
  return { core, projectId, target: { projectId, id } }
}

async function countOf(core: TestCore, id: string): Promise<number> {
  return (await loadSegmentRecord(core, id)).memberCount
}

test('known addresses become members, and unknown ones are returned as spelled in the request', async (t) => {
  const { core, projectId, target } = await openList(t)
  const ids = await addContacts(core, projectId, makeContacts(3))
  const emails = [' Person0@PEOPLE.test', 'person0@people.test', 'Who@else.test', 'who@else.test']
  const first = await addMembers(core, { ...target, emails })
  assert.deepEqual(first, { added: 1, created: 0, notFound: ['Who@else.test'] })
  const more = ['person0@people.test', 'person2@people.test']
  const second = await addMembers(core, { ...target, emails: more })
  assert.deepEqual(second, { added: 2, created: 0, notFound: [] })
  assert.deepEqual(await membersOf(core, target.id, ids), [0, 2])
  assert.equal(await countOf(core, target.id), 2)
  assert.equal(await core.store.read.$count(contacts), 3)
  assert.equal(await core.store.read.$count(events), 0)
})

test('unknown addresses become contacts with createMissing', async (t) => {
  const { core, projectId, target } = await openList(t)
  await addContacts(core, projectId, [{ email: 'a@x.test', data: { keep: 1 }, subscribed: false }])
  const emails = ['a@x.test', 'b@x.test', 'B@X.test', 'c@x.test']
  const added = await addMembers(core, { ...target, emails, createMissing: true })
  assert.deepEqual(added, { added: 3, created: 2, notFound: [] })
  const quiet = { emails: ['d@x.test'], createMissing: true, subscribed: false }
  await addMembers(core, { ...target, ...quiet })
  const rows = await core.store.read.select().from(contacts).orderBy(contacts.address)
  assert.deepEqual(
    rows.map(({ address, subscribed, data }) => [address, subscribed, data]),
    [
      ['a@x.test', false, { keep: 1 }],
      ['b@x.test', true, null],
      ['c@x.test', true, null],
      ['d@x.test', false, null],
    ],
  )
  assert.equal(await countOf(core, target.id), 4)
  assert.equal(await core.store.read.$count(events), 0)
})

test('more than five hundred addresses, and invalid addresses, are refused', async (t) => {
  const { core, target } = await openList(t)
  const emails = makeContacts(500).map(({ email }) => email)
  const added = await addMembers(core, { ...target, emails, createMissing: true })
  assert.deepEqual(added, { added: 500, created: 500, notFound: [] })
  const page = await listSegmentContacts(core, { ...target, page: 5, pageSize: 100 })
  assert.deepEqual([page.data.length, page.total], [100, 500])
  for (const wrong of [[], [...emails, 'one@more.test']]) {
    await assert.rejects(
      addMembers(core, { ...target, emails: wrong }),
      isCoded('VALIDATION_ERROR'),
    )
  }
  const mixed = { emails: ['new@x.test', 'no', 'a@b@c'], createMissing: true }
  await assert.rejects(addMembers(core, { ...target, ...mixed }), (error) => {
    assert.ok(isCoded('VALIDATION_ERROR')(error) && error instanceof AppError)
    assert.deepEqual(
      error.fields?.map(({ field }) => field),
      ['emails.1', 'emails.2'],
    )
    return true
  })
  assert.equal(await core.store.read.$count(contacts), 500)
})

test('a removed member keeps its row, which is reused when it is added again', async (t) => {
  const { core, projectId, target } = await openList(t)
  const ids = await addContacts(core, projectId, makeContacts(3))
  const emails = makeContacts(3).map(({ email }) => email)
  await addMembers(core, { ...target, emails })
  core.clock.now += 1000
  const gone = { ...target, emails: ['person1@people.test', 'who@else.test'] }
  assert.deepEqual(await deleteMembers(core, gone), { removed: 1 })
  assert.deepEqual(await deleteMembers(core, gone), { removed: 0 })
  assert.deepEqual(await membersOf(core, target.id, ids), [0, 2])
  assert.equal(await countOf(core, target.id), 2)
  core.clock.now += 1000
  await addMembers(core, { ...target, emails })
  assert.equal(await countOf(core, target.id), 3)
  const rows = await core.store.read.select().from(segmentMembers)
  assert.equal(rows.length, 3)
  const back = rows.find(({ contactId }) => contactId === ids[1])
  const { now: at } = core.clock
  assert.deepEqual([back?.enteredAt, back?.exitedAt, back?.createdAt], [at, null, at - 2000])
  const page = await listSegmentContacts(core, target)
  assert.equal(page.data[0]?.id, ids[1])
})

test('a deleted contact is no longer a member, and the count is correct at once', async (t) => {
  const { core, projectId, target } = await openList(t)
  const ids = await addContacts(core, projectId, makeContacts(4))
  await addMembers(core, { ...target, emails: makeContacts(4).map(({ email }) => email) })
  await deleteMembers(core, { ...target, emails: ['person3@people.test'] })
  const gone = inArray(contacts.id, [ids[0] ?? '', ids[3] ?? ''])
  await core.store.write((tx) => tx.delete(contacts).where(gone))
  assert.equal(await countOf(core, target.id), 2)
  assert.deepEqual(await membersOf(core, target.id, ids), [1, 2])
  assert.deepEqual(await refreshSegment(core, target), { memberCount: 2 })
})

test('a wrong count is corrected while members change', async (t) => {
  const { core, projectId, target } = await openList(t)
  await addContacts(core, projectId, makeContacts(4))
  const emails = makeContacts(4).map(({ email }) => email)
  await addMembers(core, { ...target, emails: emails.slice(0, 3) })
  const isIt = eq(segments.id, target.id)
  await core.store.write((tx) =>
    tx
      .update(segments)
      .set({ memberCount: sql`${segments.memberCount} + 5` })
      .where(isIt),
  )
  const refreshing = refreshSegment(core, target)
  await addMembers(core, { ...target, emails })
  await refreshing
  assert.equal(await countOf(core, target.id), 4)
})

test('an interrupted call has added some members and can be repeated', async (t) => {
  const { core, target } = await openList(t)
  const emails = makeContacts(250).map(({ email }) => email)
  let writes = 0
  const failing: TestCore['store'] = {
    ...core.store,
    write: async (fn) => {
      writes += 1
      if (writes === 2) throw new AppError('DATABASE_ERROR', 'no room')
      return core.store.write(fn)
    },
  }
  const input = { ...target, emails, createMissing: true }
  await assert.rejects(addMembers({ ...core, store: failing }, input), isCoded('DATABASE_ERROR'))
  assert.equal(await countOf(core, target.id), await core.store.read.$count(contacts))
  const again = await addMembers(core, input)
  assert.deepEqual([again.added, again.notFound], [250, []])
  assert.equal(await countOf(core, target.id), 250)
  assert.equal(await core.store.read.$count(segmentMembers), 250)
})

test('members of a dynamic segment cannot be added or removed', async (t) => {
  const { core, projectId } = await openList(t)
  await addContacts(core, projectId, makeContacts(1))
  const { id } = await createSegment(core, { projectId, name: 'Pro', condition: planIs('pro') })
  const change = { projectId, id, emails: ['person0@people.test', 'new@x.test'] }
  const creating = { ...change, createMissing: true }
  await assert.rejects(addMembers(core, creating), isCoded('BAD_REQUEST'))
  await assert.rejects(deleteMembers(core, change), isCoded('BAD_REQUEST'))
  assert.equal(await core.store.read.$count(contacts), 1)
  assert.equal(await core.store.read.$count(segmentMembers), 0)
})

test('a segment of another project accepts no members, and its contacts are not found', async (t) => {
  const { core, target } = await openList(t)
  const other = await addProject(core, 'Other')
  await addContacts(core, other.id, makeContacts(2))
  const emails = ['person0@people.test']
  const foreign = { projectId: other.id, id: target.id, emails }
  const isGone = isCoded('RESOURCE_NOT_FOUND')
  const creating = { ...foreign, emails: ['new@x.test'], createMissing: true }
  await assert.rejects(addMembers(core, creating), isGone)
  await assert.rejects(deleteMembers(core, foreign), isGone)
  await assert.rejects(listSegmentContacts(core, foreign), isGone)
  const mine = await addMembers(core, { ...target, emails })
  assert.deepEqual(mine, { added: 0, created: 0, notFound: emails })
  const isTheirs = and(eq(contacts.projectId, other.id))
  assert.equal(await core.store.read.$count(contacts, isTheirs), 2)
  assert.equal(await core.store.read.$count(segmentMembers), 0)
})
