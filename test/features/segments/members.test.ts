import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { listSegmentContacts } from '../../../src/features/segments/contacts.ts'
import { refreshSegment } from '../../../src/features/segments/count.ts'
import { createSegment } from '../../../src/features/segments/create.ts'
import { addMembers, removeMembers } from '../../../src/features/segments/members.ts'
import { and, eq, inArray, sql } from '../../../src/store/drizzle.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import { segmentMembers, segments } from '../../../src/store/schema/segments.ts'
import { addProject, openWorld, type World } from '../world.ts'
import { addPeople, crowd, membersOf, planIs, rowOf } from './people.ts'

const isCoded = (code: string) => (error: unknown) =>
  error instanceof AppError && error.code === code

async function openList(t: Parameters<typeof openWorld>[0]) {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const { id } = await createSegment(world, { projectId, name: 'List', type: 'STATIC' })
  return { world, projectId, target: { projectId, id } }
}

async function countOf(world: World, id: string): Promise<number> {
  return (await rowOf(world, id)).memberCount
}

test('known addresses become members, unknown ones are named as they were written', async (t) => {
  const { world, projectId, target } = await openList(t)
  const ids = await addPeople(world, projectId, crowd(3))
  const emails = [' Person0@PEOPLE.test', 'person0@people.test', 'Who@else.test', 'who@else.test']
  const first = await addMembers(world, { ...target, emails })
  assert.deepEqual(first, { added: 1, created: 0, notFound: ['Who@else.test'] })
  const more = ['person0@people.test', 'person2@people.test']
  const second = await addMembers(world, { ...target, emails: more })
  assert.deepEqual(second, { added: 2, created: 0, notFound: [] })
  assert.deepEqual(await membersOf(world, target.id, ids), [0, 2])
  assert.equal(await countOf(world, target.id), 2)
  assert.equal(await world.store.read.$count(contacts), 3)
  assert.equal(await world.store.read.$count(events), 0)
})

test('unknown addresses become contacts where that is wished', async (t) => {
  const { world, projectId, target } = await openList(t)
  await addPeople(world, projectId, [{ email: 'a@x.test', data: { keep: 1 }, subscribed: false }])
  const emails = ['a@x.test', 'b@x.test', 'B@X.test', 'c@x.test']
  const added = await addMembers(world, { ...target, emails, createMissing: true })
  assert.deepEqual(added, { added: 3, created: 2, notFound: [] })
  const quiet = { emails: ['d@x.test'], createMissing: true, subscribed: false }
  await addMembers(world, { ...target, ...quiet })
  const rows = await world.store.read.select().from(contacts).orderBy(contacts.email)
  assert.deepEqual(
    rows.map(({ email, subscribed, data }) => [email, subscribed, data]),
    [
      ['a@x.test', false, { keep: 1 }],
      ['b@x.test', true, null],
      ['c@x.test', true, null],
      ['d@x.test', false, null],
    ],
  )
  assert.equal(await countOf(world, target.id), 4)
  assert.equal(await world.store.read.$count(events), 0)
})

test('five hundred at a time, more are refused, and so is what is no address', async (t) => {
  const { world, target } = await openList(t)
  const emails = crowd(500).map(({ email }) => email)
  const added = await addMembers(world, { ...target, emails, createMissing: true })
  assert.deepEqual(added, { added: 500, created: 500, notFound: [] })
  const page = await listSegmentContacts(world, { ...target, page: 5, pageSize: 100 })
  assert.deepEqual([page.data.length, page.total, page.totalPages], [100, 500, 5])
  for (const wrong of [[], [...emails, 'one@more.test']]) {
    await assert.rejects(
      addMembers(world, { ...target, emails: wrong }),
      isCoded('VALIDATION_ERROR'),
    )
  }
  const mixed = { emails: ['new@x.test', 'no', 'a@b@c'], createMissing: true }
  await assert.rejects(addMembers(world, { ...target, ...mixed }), (error) => {
    assert.ok(isCoded('VALIDATION_ERROR')(error) && error instanceof AppError)
    assert.deepEqual(
      error.fields?.map(({ field }) => field),
      ['emails.1', 'emails.2'],
    )
    return true
  })
  assert.equal(await world.store.read.$count(contacts), 500)
})

test('who is removed keeps the row, and gets it back on coming again', async (t) => {
  const { world, projectId, target } = await openList(t)
  const ids = await addPeople(world, projectId, crowd(3))
  const emails = crowd(3).map(({ email }) => email)
  await addMembers(world, { ...target, emails })
  world.clock.at += 1000
  const gone = { ...target, emails: ['person1@people.test', 'who@else.test'] }
  assert.deepEqual(await removeMembers(world, gone), { removed: 1 })
  assert.deepEqual(await removeMembers(world, gone), { removed: 0 })
  assert.deepEqual(await membersOf(world, target.id, ids), [0, 2])
  assert.equal(await countOf(world, target.id), 2)
  world.clock.at += 1000
  await addMembers(world, { ...target, emails })
  assert.equal(await countOf(world, target.id), 3)
  const rows = await world.store.read.select().from(segmentMembers)
  assert.equal(rows.length, 3)
  const back = rows.find(({ contactId }) => contactId === ids[1])
  const { at } = world.clock
  assert.deepEqual([back?.enteredAt, back?.exitedAt, back?.createdAt], [at, null, at - 2000])
  const page = await listSegmentContacts(world, target)
  assert.equal(page.data[0]?.id, ids[1])
})

test('a deleted contact is no member any more, and the count knows at once', async (t) => {
  const { world, projectId, target } = await openList(t)
  const ids = await addPeople(world, projectId, crowd(4))
  await addMembers(world, { ...target, emails: crowd(4).map(({ email }) => email) })
  await removeMembers(world, { ...target, emails: ['person3@people.test'] })
  const gone = inArray(contacts.id, [ids[0] ?? '', ids[3] ?? ''])
  await world.store.write((tx) => tx.delete(contacts).where(gone))
  assert.equal(await countOf(world, target.id), 2)
  assert.deepEqual(await membersOf(world, target.id, ids), [1, 2])
  assert.deepEqual(await refreshSegment(world, target), { memberCount: 2 })
})

test('a count that went wrong is put right, beside changes that are made meanwhile', async (t) => {
  const { world, projectId, target } = await openList(t)
  await addPeople(world, projectId, crowd(4))
  const emails = crowd(4).map(({ email }) => email)
  await addMembers(world, { ...target, emails: emails.slice(0, 3) })
  const isIt = eq(segments.id, target.id)
  await world.store.write((tx) =>
    tx
      .update(segments)
      .set({ memberCount: sql`${segments.memberCount} + 5` })
      .where(isIt),
  )
  const refreshing = refreshSegment(world, target)
  await addMembers(world, { ...target, emails })
  await refreshing
  assert.equal(await countOf(world, target.id), 4)
})

test('a call that was cut short did some, and is repeated without harm', async (t) => {
  const { world, target } = await openList(t)
  const emails = crowd(250).map(({ email }) => email)
  let writes = 0
  const failing: World['store'] = {
    ...world.store,
    write: async (fn) => {
      writes += 1
      if (writes === 2) throw new AppError('DATABASE_ERROR', 'no room')
      return world.store.write(fn)
    },
  }
  const input = { ...target, emails, createMissing: true }
  await assert.rejects(addMembers({ ...world, store: failing }, input), isCoded('DATABASE_ERROR'))
  assert.equal(await countOf(world, target.id), await world.store.read.$count(contacts))
  const again = await addMembers(world, input)
  assert.deepEqual([again.added, again.notFound], [250, []])
  assert.equal(await countOf(world, target.id), 250)
  assert.equal(await world.store.read.$count(segmentMembers), 250)
})

test('a dynamic segment takes no members by hand, and loses none', async (t) => {
  const { world, projectId } = await openList(t)
  await addPeople(world, projectId, crowd(1))
  const { id } = await createSegment(world, { projectId, name: 'Pro', condition: planIs('pro') })
  const change = { projectId, id, emails: ['person0@people.test', 'new@x.test'] }
  const creating = { ...change, createMissing: true }
  await assert.rejects(addMembers(world, creating), isCoded('BAD_REQUEST'))
  await assert.rejects(removeMembers(world, change), isCoded('BAD_REQUEST'))
  assert.equal(await world.store.read.$count(contacts), 1)
  assert.equal(await world.store.read.$count(segmentMembers), 0)
})

test("another project's segment takes nobody, and its contacts are not found", async (t) => {
  const { world, target } = await openList(t)
  const other = await addProject(world, 'Other')
  await addPeople(world, other.id, crowd(2))
  const emails = ['person0@people.test']
  const foreign = { projectId: other.id, id: target.id, emails }
  const isGone = isCoded('RESOURCE_NOT_FOUND')
  const creating = { ...foreign, emails: ['new@x.test'], createMissing: true }
  await assert.rejects(addMembers(world, creating), isGone)
  await assert.rejects(removeMembers(world, foreign), isGone)
  await assert.rejects(listSegmentContacts(world, foreign), isGone)
  const mine = await addMembers(world, { ...target, emails })
  assert.deepEqual(mine, { added: 0, created: 0, notFound: emails })
  const isTheirs = and(eq(contacts.projectId, other.id))
  assert.equal(await world.store.read.$count(contacts, isTheirs), 2)
  assert.equal(await world.store.read.$count(segmentMembers), 0)
})
