import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../../../src/base/errors.ts'
import { appendEvent } from '../../../../src/features/ground/events/append.ts'
import { computeSegment } from '../../../../src/features/people/segments/compute.ts'
import { addMembers } from '../../../../src/features/people/segments/edit-members.ts'
import {
  createSegment,
  deleteSegment,
  updateSegment,
} from '../../../../src/features/people/segments/edit-segment.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { segmentMembers } from '../../../../src/store/schema/segments.ts'
import { createSharedRuns } from '../../../../src/work/shared-runs.ts'
import { addProject, openTestCore, type TestCore } from '../../../core.ts'
import { addContacts } from '../contacts/add-contacts.ts'
import {
  inSegment,
  loadSegmentRecord,
  makeContacts,
  membersOf,
  planIs,
  segmentEvents,
  setPlan,
  where,
} from './segment-contacts.ts'

const isCoded = (code: string) => (error: unknown) =>
  error instanceof AppError && error.code === code

/** Creates a segment of plan 'pro' with membership events that is not computed yet. */
async function openTracked(t: Parameters<typeof openTestCore>[0], people = makeContacts(3)) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const ids = await addContacts(core, projectId, people)
  const tracked = { projectId, condition: planIs('pro'), hasMembershipEvents: true }
  const { id } = await createSegment(core, { ...tracked, name: 'Pro' })
  return { core, projectId, ids, target: { projectId, id } }
}

/** A copy of the core that runs a function before its nth write. */
function beforeWrite(core: TestCore, nth: number, act: () => Promise<unknown>): TestCore {
  let writes = 0
  const write: TestCore['store']['write'] = async (fn) => {
    writes += 1
    if (writes === nth) await act()
    return core.store.write(fn)
  }
  return { ...core, store: { ...core.store, write } }
}

test('the first computation appends entries for all members, later ones only for changes', async (t) => {
  const { core, ids, target } = await openTracked(t)
  const other = await addProject(core, 'Other')
  await addContacts(core, other.id, makeContacts(4))
  assert.deepEqual(await computeSegment(core, target), { added: 3, removed: 0, total: 3 })
  const all = ['pro entry 0', 'pro entry 1', 'pro entry 2']
  assert.deepEqual(await segmentEvents(core, ids), all)
  assert.deepEqual(await computeSegment(core, target), { added: 0, removed: 0, total: 3 })
  await setPlan(core, ids[1] ?? '', 'free')
  core.clock.now += 1000
  assert.deepEqual(await computeSegment(core, target), { added: 0, removed: 1, total: 2 })
  assert.deepEqual(await segmentEvents(core, ids), [...all, 'pro exit 1'])
  assert.deepEqual(await membersOf(core, target.id, ids), [0, 2])
  await setPlan(core, ids[1] ?? '', 'pro')
  await computeSegment(core, target)
  assert.deepEqual(await segmentEvents(core, ids), [...all, 'pro exit 1', 'pro entry 1'])
  assert.equal(await core.store.read.$count(segmentMembers), 3)
  const row = await loadSegmentRecord(core, target.id)
  assert.deepEqual([row.memberCount, row.countedAt], [3, core.clock.now])
  const [event] = await core.store.read.select().from(events).limit(1)
  assert.deepEqual(event?.data, { segmentId: target.id, segmentName: 'Pro' })
  assert.equal(event?.projectId, target.projectId)
})

test('unsubscribed contacts are members, too', async (t) => {
  const people = makeContacts(4).map((person, index) => ({
    ...person,
    subscribed: index % 2 === 0,
  }))
  const { core, ids, target } = await openTracked(t, people)
  assert.equal((await computeSegment(core, target)).total, 4)
  assert.deepEqual(await membersOf(core, target.id, ids), [0, 1, 2, 3])
})

test('a segment without membership events is not computed; for a static segment only the count is checked', async (t) => {
  const { core, projectId, target } = await openTracked(t)
  const { id } = await createSegment(core, { projectId, name: 'Un', condition: planIs('pro') })
  await assert.rejects(computeSegment(core, { projectId, id }), isCoded('BAD_REQUEST'))
  for (const hasMembershipEvents of [false, true]) {
    const list = { projectId, name: 'List', type: 'STATIC' as const, hasMembershipEvents }
    const made = await createSegment(core, list)
    const emails = ['person0@people.test', 'person1@people.test']
    await addMembers(core, { projectId, id: made.id, emails })
    const computed = await computeSegment(core, { projectId, id: made.id })
    assert.deepEqual(computed, { added: 0, removed: 0, total: 2 })
  }
  assert.equal(await core.store.read.$count(events), 0)
  const other = await addProject(core, 'Other')
  const foreign = { projectId: other.id, id: target.id }
  await assert.rejects(computeSegment(core, foreign), isCoded('RESOURCE_NOT_FOUND'))
  assert.equal(await core.store.read.$count(events), 0)
})

test('a new condition makes contacts enter or leave by their match, and the others stay', async (t) => {
  const { core, ids, target } = await openTracked(t)
  await computeSegment(core, target)
  await setPlan(core, ids[0] ?? '', 'free')
  await computeSegment(core, target)
  const before = await segmentEvents(core, ids)
  const email = where({ field: 'email', operator: 'contains', value: 'person0' })
  const either = { logic: 'OR' as const, groups: [...email.groups, ...planIs('none').groups] }
  const condition = {
    logic: 'OR' as const,
    groups: [
      ...either.groups,
      ...where({ field: 'email', operator: 'contains', value: 'person1' }).groups,
    ],
  }
  const changed = await updateSegment(core, { ...target, changes: { condition } })
  assert.equal(changed.memberCount, 2)
  assert.deepEqual(await segmentEvents(core, ids), before)
  assert.deepEqual(await computeSegment(core, target), { added: 1, removed: 1, total: 2 })
  assert.deepEqual((await segmentEvents(core, ids)).slice(before.length), [
    'pro entry 0',
    'pro exit 2',
  ])
})

test('membership events that were off for a while resume with the changes since, not with all members', async (t) => {
  const { core, ids, target } = await openTracked(t)
  await computeSegment(core, target)
  const before = await segmentEvents(core, ids)
  const track = (hasMembershipEvents: boolean) =>
    updateSegment(core, { ...target, changes: { hasMembershipEvents } })
  await track(false)
  await assert.rejects(computeSegment(core, target), isCoded('BAD_REQUEST'))
  await setPlan(core, ids[2] ?? '', 'free')
  await track(true)
  await computeSegment(core, target)
  assert.deepEqual((await segmentEvents(core, ids)).slice(before.length), ['pro exit 2'])
})

test('a contact that matched within a span of time leaves when the span is over', async (t) => {
  const { core, projectId, ids } = await openTracked(t)
  const operator = 'triggeredWithin' as const
  const condition = where({ field: 'event.visited', operator, value: 2, unit: 'days' })
  const tracked = { projectId, name: 'Recent', condition, hasMembershipEvents: true }
  const { id } = await createSegment(core, tracked)
  const visit = { projectId, name: 'visited', emailId: null, data: null, at: core.clock.now }
  await core.store.write((tx) => appendEvent(tx, { ...visit, contactId: ids[1] ?? '' }))
  assert.equal((await computeSegment(core, { projectId, id })).added, 1)
  core.clock.now += 3 * 86_400_000
  const computed = await computeSegment(core, { projectId, id })
  assert.deepEqual(computed, { added: 0, removed: 1, total: 0 })
  assert.deepEqual(await segmentEvents(core, ids), ['recent entry 1', 'recent exit 1'])
})

test('a new name appends no event, and later events have the new name', async (t) => {
  const { core, ids, target } = await openTracked(t)
  await computeSegment(core, target)
  await updateSegment(core, { ...target, changes: { name: 'Best People!' } })
  await computeSegment(core, target)
  await setPlan(core, ids[0] ?? '', 'free')
  await computeSegment(core, target)
  const emitted = await segmentEvents(core, ids)
  assert.deepEqual(emitted.slice(3), ['best-people exit 0'])
})

test('a condition on a segment with membership events uses its members', async (t) => {
  const { core, projectId, ids, target } = await openTracked(t)
  const tracked = { projectId, name: 'Upper', hasMembershipEvents: true }
  const upper = await createSegment(core, { ...tracked, condition: inSegment(target.id) })
  assert.equal(upper.memberCount, 0)
  await computeSegment(core, target)
  await computeSegment(core, { projectId, id: upper.id })
  assert.deepEqual(await membersOf(core, upper.id, ids), [0, 1, 2])
})

test('two computations at once, in one process or two, append each event once', async (t) => {
  const { core, ids, target } = await openTracked(t, makeContacts(700))
  const elsewhere = { ...core, sharedRuns: createSharedRuns() }
  const done = await Promise.all([
    computeSegment(core, target),
    computeSegment(elsewhere, target),
    computeSegment(core, target),
    computeSegment(core, target),
  ])
  // The last two calls shared one run.
  assert.equal(done[2], done[3])
  const [first, second, third] = done
  const sum = [first, second, third].reduce((added, each) => added + (each?.added ?? 0), 0)
  assert.equal(sum, 700)
  assert.ok(done.every(({ total }) => total <= 700))
  assert.equal(done[3]?.total, 700)
  assert.equal(new Set(await segmentEvents(core, ids)).size, 700)
  assert.equal(await core.store.read.$count(events), 700)
})

test('changes that another process computed meanwhile are not appended again', async (t) => {
  const { core, ids, target } = await openTracked(t, makeContacts(4))
  await computeSegment(core, target)
  await setPlan(core, ids[0] ?? '', 'free')
  await setPlan(core, ids[1] ?? '', 'free')
  await computeSegment(core, target)
  await setPlan(core, ids[0] ?? '', 'pro')
  await setPlan(core, ids[2] ?? '', 'free')
  await addContacts(core, target.projectId, [{ email: 'new@x.test', data: { plan: 'pro' } }])
  const before = await segmentEvents(core, ids)
  const elsewhere = { ...core, sharedRuns: createSharedRuns() }
  const meanwhile = () => computeSegment(elsewhere, target)
  const computed = await computeSegment(beforeWrite(core, 1, meanwhile), target)
  assert.deepEqual(computed, { added: 0, removed: 0, total: 3 })
  const emitted = (await segmentEvents(core, ids)).slice(before.length)
  assert.deepEqual(emitted.sort(), ['pro entry -1', 'pro entry 0', 'pro exit 2'])
})

test('a crash during a computation loses no event and repeats none', async (t) => {
  const { core, ids, target } = await openTracked(t, makeContacts(800))
  const crash = () => Promise.reject(new Error('power'))
  await assert.rejects(computeSegment(beforeWrite(core, 2, crash), target), /power/)
  assert.equal(await core.store.read.$count(events), 500)
  assert.equal(await core.store.read.$count(segmentMembers), 500)
  assert.deepEqual(await computeSegment(core, target), { added: 300, removed: 0, total: 800 })
  assert.equal(new Set(await segmentEvents(core, ids)).size, 800)
  assert.equal(await core.store.read.$count(events), 800)
})

test('a contact that is deleted meanwhile is skipped', async (t) => {
  const { core, ids, target } = await openTracked(t)
  const isFirst = eq(contacts.id, ids[0] ?? '')
  const remove = () => core.store.write((tx) => tx.delete(contacts).where(isFirst))
  const computed = await computeSegment(beforeWrite(core, 1, remove), target)
  assert.deepEqual(computed, { added: 2, removed: 0, total: 2 })
  assert.deepEqual(await segmentEvents(core, ids), ['pro entry 1', 'pro entry 2'])
})

test('when the condition changes meanwhile, the new condition is used', async (t) => {
  const { core, ids, target } = await openTracked(t, makeContacts(800))
  await setPlan(core, ids[700] ?? '', 'free')
  const changes = { condition: planIs('free') }
  const change = () => updateSegment(core, { ...target, changes })
  const computed = await computeSegment(beforeWrite(core, 2, change), target)
  assert.deepEqual(computed, { added: 501, removed: 500, total: 1 })
  assert.deepEqual(await membersOf(core, target.id, ids), [700])
})

test('a segment that is deleted or loses its membership events meanwhile does not change any more', async (t) => {
  const { core, ids, target } = await openTracked(t)
  const changes = { hasMembershipEvents: false }
  const untrack = () => updateSegment(core, { ...target, changes })
  await assert.rejects(
    computeSegment(beforeWrite(core, 1, untrack), target),
    isCoded('BAD_REQUEST'),
  )
  await updateSegment(core, { ...target, changes: { hasMembershipEvents: true } })
  const remove = () => deleteSegment(core, target)
  await assert.rejects(
    computeSegment(beforeWrite(core, 1, remove), target),
    isCoded('RESOURCE_NOT_FOUND'),
  )
  assert.deepEqual(await segmentEvents(core, ids), [])
  assert.equal(await core.store.read.$count(segmentMembers), 0)
})

test('a computation without changes does not save its count once the condition has changed', async (t) => {
  const { core, ids, target } = await openTracked(t)
  await computeSegment(core, target)
  await setPlan(core, ids[1] ?? '', 'free')
  await computeSegment(core, target)
  const changes = { condition: planIs('free') }
  const change = () => updateSegment(core, { ...target, changes })
  const computed = await computeSegment(beforeWrite(core, 1, change), target)
  assert.deepEqual(computed, { added: 1, removed: 2, total: 1 })
  assert.deepEqual(await membersOf(core, target.id, ids), [1])
  assert.equal((await loadSegmentRecord(core, target.id)).memberCount, 1)
  const remove = () => deleteSegment(core, target)
  await assert.rejects(
    computeSegment(beforeWrite(core, 1, remove), target),
    isCoded('RESOURCE_NOT_FOUND'),
  )
})

test('a computation ends with its signal, and the next one continues', async (t) => {
  const { core, target } = await openTracked(t, makeContacts(800))
  const abort = new AbortController()
  const stop = async () => abort.abort(new Error('stopping'))
  const stopped = computeSegment(beforeWrite(core, 1, stop), { ...target, signal: abort.signal })
  await assert.rejects(stopped, /stopping/)
  assert.equal(await core.store.read.$count(events), 500)
  assert.equal((await computeSegment(core, target)).added, 300)
})

test('entries and exits of a contact alternate, and the last one is its state, in any history', async (t) => {
  const { core, ids, target } = await openTracked(t, makeContacts(6, 'free'))
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ who: fc.nat(5), plan: fc.constantFrom('pro', 'free') }) },
    { weight: 3, arbitrary: fc.constantFrom('compute', 'both', 'crash', 'untrack', 'track') },
    { weight: 1, arbitrary: fc.constantFrom('pro', 'free').map((condition) => ({ condition })) },
  )
  const act = async (taken: string | { who: number; plan: string } | { condition: string }) => {
    if (typeof taken === 'object' && 'who' in taken) {
      return setPlan(core, ids[taken.who] ?? '', taken.plan)
    }
    if (typeof taken === 'object') {
      return updateSegment(core, { ...target, changes: { condition: planIs(taken.condition) } })
    }
    if (taken === 'track' || taken === 'untrack') {
      const changes = { hasMembershipEvents: taken === 'track' }
      return updateSegment(core, { ...target, changes })
    }
    const crash = () => Promise.reject(new Error('power'))
    const computes = {
      compute: [core],
      both: [core, { ...core, sharedRuns: createSharedRuns() }],
      crash: [beforeWrite(core, 2, crash)],
    }[taken]
    return Promise.allSettled((computes ?? []).map((deps) => computeSegment(deps, target)))
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 12 }), async (steps) => {
      for (const taken of steps) await act(taken)
      await updateSegment(core, { ...target, changes: { hasMembershipEvents: true } })
      await computeSegment(core, target)
      const emitted = await segmentEvents(core, ids)
      const current = await membersOf(core, target.id, ids)
      const matching = await core.store.read.all<{ id: string }>(
        sql`select contacts.id from contacts, segments where segments.id = ${target.id}
          and contacts.data ->> '$.plan'
            = segments.condition ->> '$.groups[0].filters[0].value'`,
      )
      const expected = matching.map(({ id }) => ids.indexOf(id)).sort((a, b) => a - b)
      assert.deepEqual(current, expected)
      for (const who of ids.keys()) {
        const own = emitted.filter((text) => text.endsWith(` ${who}`))
        const changes = own.map((text) => text.split(' ')[1])
        const alternating = changes.map((_, index) => (index % 2 === 0 ? 'entry' : 'exit'))
        assert.deepEqual(changes, alternating)
        assert.equal(changes.at(-1) === 'entry', current.includes(who))
      }
    }),
    { numRuns: 15 },
  )
})
