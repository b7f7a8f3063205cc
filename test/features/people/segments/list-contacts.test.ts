import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../../src/base/errors.ts'
import { walkContacts } from '../../../../src/features/people/contacts/list/walk.ts'
import { contactScopeOf } from '../../../../src/features/people/segments/contact-scope.ts'
import { addMembers, deleteMembers } from '../../../../src/features/people/segments/edit-members.ts'
import {
  createSegment,
  updateSegment,
} from '../../../../src/features/people/segments/edit-segment.ts'
import { countSegment } from '../../../../src/features/people/segments/segment-contacts.ts'
import { loadSegment } from '../../../../src/features/people/segments/segments.ts'
import { addProject, openTestCore, type TestCore } from '../../../core.ts'
import { listSegmentContacts } from '../../../lists.ts'
import { addContacts } from '../contacts/add-contacts.ts'
import { loadSegmentRecord, makeContacts, planIs, setPlan } from './segment-contacts.ts'

const emailsOf = ({ data }: { data: { email: string }[] }) => data.map(({ email }) => email)

/** Counts the scans. */
function counting(core: TestCore): { core: TestCore; scans: () => number } {
  let scans = 0
  const scan: TestCore['store']['scan'] = Object.create(core.store.scan, {
    values: {
      value: (query: never) => {
        scans += 1
        return core.store.scan.values(query)
      },
    },
  })
  return { core: { ...core, store: { ...core.store, scan } }, scans: () => scans }
}

test('the contacts of a dynamic segment are the current matches, newest first', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const people = makeContacts(45).map((person, index) => ({ ...person, subscribed: index % 3 > 0 }))
  const ids = await addContacts(core, projectId, people)
  const { id } = await createSegment(core, { projectId, name: 'Pro', condition: planIs('pro') })
  const first = await listSegmentContacts(core, { projectId, id })
  assert.deepEqual(
    first.data.map((contact) => contact.id),
    ids.slice(25).reverse(),
  )
  assert.deepEqual([first.total, first.data.length], [45, 20])
  await setPlan(core, ids[44] ?? '', 'free')
  await addContacts(core, projectId, [{ email: 'new@x.test', data: { plan: 'pro' } }])
  const { data } = await listSegmentContacts(core, { projectId, id, pageSize: 2 })
  assert.deepEqual(emailsOf({ data }), ['new@x.test', 'person43@people.test'])
  const last = await listSegmentContacts(core, { projectId, id, page: 5, pageSize: 10 })
  assert.deepEqual(
    last.data.map((contact) => contact.id),
    ids.slice(0, 5).reverse(),
  )
  const behind = await listSegmentContacts(core, { projectId, id, page: 1_000_000 })
  assert.deepEqual(behind.data, [])
  const large = await listSegmentContacts(core, { projectId, id, pageSize: 5000 })
  assert.equal(large.data.length, 45)
  for (const wrong of [{ page: 0 }, { pageSize: 0 }, { page: 1.5 }]) {
    await assert.rejects(
      listSegmentContacts(core, { projectId, id, ...wrong }),
      (error) => error instanceof AppError && error.code === 'VALIDATION_ERROR',
    )
  }
})

test('the total of a dynamic segment is counted again after five minutes', async (t) => {
  const plain = await openTestCore(t)
  const { id: projectId } = await addProject(plain)
  await addContacts(plain, projectId, makeContacts(2))
  const { id } = await createSegment(plain, { projectId, name: 'Pro', condition: planIs('pro') })
  await addContacts(plain, projectId, [{ email: 'new@x.test', data: { plan: 'pro' } }])
  const { core, scans } = counting(plain)
  plain.clock.now += 300_000
  assert.equal((await listSegmentContacts(core, { projectId, id })).total, 2)
  // The end of the range, its contacts, and what they hold.
  assert.equal(scans(), 3)
  plain.clock.now += 1
  const crowdOfCallers = Array.from({ length: 10 }, () =>
    listSegmentContacts(core, { projectId, id }),
  )
  const totals = (await Promise.all(crowdOfCallers)).map(({ total }) => total)
  assert.deepEqual([...new Set(totals)], [3])
  // The first page, ten more, and one count.
  assert.equal(scans(), 3 * 11 + 2)
  const row = await loadSegmentRecord(plain, id)
  assert.deepEqual([row.memberCount, row.countedAt], [3, plain.clock.now])
})

test('the contacts of a static segment are listed latest entry first', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await addContacts(core, projectId, makeContacts(5))
  const { id } = await createSegment(core, { projectId, name: 'List', type: 'STATIC' })
  for (const index of [3, 0, 4, 1]) {
    core.clock.now += 10
    await addMembers(core, { projectId, id, emails: [`person${index}@people.test`] })
  }
  await deleteMembers(core, { projectId, id, emails: ['person0@people.test'] })
  const page = await listSegmentContacts(core, { projectId, id, pageSize: 2 })
  assert.deepEqual(emailsOf(page), ['person1@people.test', 'person4@people.test'])
  assert.equal(page.total, 3)
  const rest = await listSegmentContacts(core, { projectId, id, page: 2, pageSize: 2 })
  assert.deepEqual(emailsOf(rest), ['person3@people.test'])
})

test('a walk over a segment visits its members or the contacts that match its condition', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const other = await addProject(core, 'Other')
  const people = makeContacts(6).map((person, index) => ({ ...person, subscribed: index % 2 > 0 }))
  const ids = await addContacts(core, projectId, people)
  await addContacts(core, other.id, makeContacts(6))
  await setPlan(core, ids[2] ?? '', 'free')
  const list = await createSegment(core, { projectId, name: 'List', type: 'STATIC' })
  const emails = [4, 2, 5].map((index) => `person${index}@people.test`)
  await addMembers(core, { projectId, id: list.id, emails })
  await deleteMembers(core, { projectId, id: list.id, emails: ['person5@people.test'] })
  const condition = planIs('pro')
  const tracked = { projectId, name: 'Pro', condition, hasMembershipEvents: true }
  const pro = await createSegment(core, tracked)
  const walk = async (id: string) => {
    const segment = await loadSegment(core.store.read, { projectId, id })
    const seen: number[] = []
    const scope = await contactScopeOf(core, segment)
    for await (const page of walkContacts(core, scope, { size: 2 })) {
      seen.push(...page.map((contact) => ids.indexOf(contact.id)))
    }
    return seen
  }
  assert.deepEqual(await walk(list.id), [2, 4])
  assert.deepEqual(await walk(pro.id), [0, 1, 3, 4, 5])
})

test('concurrent counts share one run, which uses the condition at its start', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await addContacts(core, projectId, [
    ...makeContacts(3),
    { email: 'free@x.test', data: { plan: 'free' } },
  ])
  const { id } = await createSegment(core, { projectId, name: 'Pro', condition: planIs('pro') })
  const target = { projectId, id }
  const gate = Promise.withResolvers<number>()
  const before = core.sharedRuns.take(`count ${id}`, () => gate.promise)
  const early = countSegment(core, await loadSegment(core.store.read, target))
  await updateSegment(core, { ...target, changes: { condition: planIs('free') } })
  const late = countSegment(core, await loadSegment(core.store.read, target))
  gate.resolve(0)
  assert.deepEqual(await Promise.all([before, early, late]), [0, 1, 1])
  assert.equal((await loadSegmentRecord(core, id)).memberCount, 1)
})
