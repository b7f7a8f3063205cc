import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../../src/errors.ts'
import { appendEvent } from '../../../src/features/events/append.ts'
import { computeSegment } from '../../../src/features/segments/compute.ts'
import { createSegment } from '../../../src/features/segments/create.ts'
import { deleteSegment } from '../../../src/features/segments/delete.ts'
import { addMembers } from '../../../src/features/segments/members.ts'
import { updateSegment } from '../../../src/features/segments/update.ts'
import { createSharedRuns } from '../../../src/features/shared-runs.ts'
import { eq, sql } from '../../../src/store/drizzle.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import { segmentMembers } from '../../../src/store/schema/segments.ts'
import { addProject, openWorld, type World } from '../world.ts'
import {
  addPeople,
  crowd,
  inSegment,
  membersOf,
  planIs,
  rowOf,
  setPlan,
  toldOf,
  where,
} from './people.ts'

const isCoded = (code: string) => (error: unknown) =>
  error instanceof AppError && error.code === code

/** A tracked segment of those whose plan is 'pro', not computed yet. */
async function openTracked(t: Parameters<typeof openWorld>[0], people = crowd(3)) {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const ids = await addPeople(world, projectId, people)
  const tracked = { projectId, condition: planIs('pro'), trackMembership: true }
  const { id } = await createSegment(world, { ...tracked, name: 'Pro' })
  return { world, projectId, ids, target: { projectId, id } }
}

/** The same world, but something happens before the nth of its writes. */
function beforeWrite(world: World, nth: number, act: () => Promise<unknown>): World {
  let writes = 0
  const write: World['store']['write'] = async (fn) => {
    writes += 1
    if (writes === nth) await act()
    return world.store.write(fn)
  }
  return { ...world, store: { ...world.store, write } }
}

test('the first compute fires entry for all, the next ones only for what changed', async (t) => {
  const { world, ids, target } = await openTracked(t)
  const other = await addProject(world, 'Other')
  await addPeople(world, other.id, crowd(4))
  assert.deepEqual(await computeSegment(world, target), { added: 3, removed: 0, total: 3 })
  const all = ['pro entry 0', 'pro entry 1', 'pro entry 2']
  assert.deepEqual(await toldOf(world, ids), all)
  assert.deepEqual(await computeSegment(world, target), { added: 0, removed: 0, total: 3 })
  await setPlan(world, ids[1] ?? '', 'free')
  world.clock.at += 1000
  assert.deepEqual(await computeSegment(world, target), { added: 0, removed: 1, total: 2 })
  assert.deepEqual(await toldOf(world, ids), [...all, 'pro exit 1'])
  assert.deepEqual(await membersOf(world, target.id, ids), [0, 2])
  await setPlan(world, ids[1] ?? '', 'pro')
  await computeSegment(world, target)
  assert.deepEqual(await toldOf(world, ids), [...all, 'pro exit 1', 'pro entry 1'])
  assert.equal(await world.store.read.$count(segmentMembers), 3)
  const row = await rowOf(world, target.id)
  assert.deepEqual([row.memberCount, row.countedAt], [3, world.clock.at])
  const [event] = await world.store.read.select().from(events).limit(1)
  assert.deepEqual(event?.data, { segmentId: target.id, segmentName: 'Pro' })
  assert.equal(event?.projectId, target.projectId)
})

test('contacts that are not subscribed are members like all others', async (t) => {
  const people = crowd(4).map((person, index) => ({ ...person, subscribed: index % 2 === 0 }))
  const { world, ids, target } = await openTracked(t, people)
  assert.equal((await computeSegment(world, target)).total, 4)
  assert.deepEqual(await membersOf(world, target.id, ids), [0, 1, 2, 3])
})

test('what is not tracked is not computed; of a static one only the count is checked', async (t) => {
  const { world, projectId, target } = await openTracked(t)
  const { id } = await createSegment(world, { projectId, name: 'Un', condition: planIs('pro') })
  await assert.rejects(computeSegment(world, { projectId, id }), isCoded('BAD_REQUEST'))
  for (const trackMembership of [false, true]) {
    const list = { projectId, name: 'List', type: 'STATIC' as const, trackMembership }
    const made = await createSegment(world, list)
    const emails = ['person0@people.test', 'person1@people.test']
    await addMembers(world, { projectId, id: made.id, emails })
    const computed = await computeSegment(world, { projectId, id: made.id })
    assert.deepEqual(computed, { added: 0, removed: 0, total: 2 })
  }
  assert.equal(await world.store.read.$count(events), 0)
  const other = await addProject(world, 'Other')
  const foreign = { projectId: other.id, id: target.id }
  await assert.rejects(computeSegment(world, foreign), isCoded('RESOURCE_NOT_FOUND'))
  assert.equal(await world.store.read.$count(events), 0)
})

test('a new condition: who no longer matches leaves, who matches enters, the rest stay', async (t) => {
  const { world, ids, target } = await openTracked(t)
  await computeSegment(world, target)
  await setPlan(world, ids[0] ?? '', 'free')
  await computeSegment(world, target)
  const before = await toldOf(world, ids)
  const email = where({ field: 'email', operator: 'contains', value: 'person0' })
  const either = { logic: 'OR' as const, groups: [...email.groups, ...planIs('none').groups] }
  const condition = {
    logic: 'OR' as const,
    groups: [
      ...either.groups,
      ...where({ field: 'email', operator: 'contains', value: 'person1' }).groups,
    ],
  }
  const changed = await updateSegment(world, { ...target, changes: { condition } })
  assert.equal(changed.memberCount, 2)
  assert.deepEqual(await toldOf(world, ids), before)
  assert.deepEqual(await computeSegment(world, target), { added: 1, removed: 1, total: 2 })
  assert.deepEqual((await toldOf(world, ids)).slice(before.length), ['pro entry 0', 'pro exit 2'])
})

test('tracking that was off for a while tells of what changed meanwhile, not of all', async (t) => {
  const { world, ids, target } = await openTracked(t)
  await computeSegment(world, target)
  const before = await toldOf(world, ids)
  const track = (trackMembership: boolean) =>
    updateSegment(world, { ...target, changes: { trackMembership } })
  await track(false)
  await assert.rejects(computeSegment(world, target), isCoded('BAD_REQUEST'))
  await setPlan(world, ids[2] ?? '', 'free')
  await track(true)
  await computeSegment(world, target)
  assert.deepEqual((await toldOf(world, ids)).slice(before.length), ['pro exit 2'])
})

test('who matched within a window leaves when it has passed', async (t) => {
  const { world, projectId, ids } = await openTracked(t)
  const operator = 'triggeredWithin' as const
  const condition = where({ field: 'event.visited', operator, value: 2, unit: 'days' })
  const tracked = { projectId, name: 'Recent', condition, trackMembership: true }
  const { id } = await createSegment(world, tracked)
  const visit = { projectId, name: 'visited', emailId: null, data: null, at: world.clock.at }
  await world.store.write((tx) => appendEvent(tx, { ...visit, contactId: ids[1] ?? '' }))
  assert.equal((await computeSegment(world, { projectId, id })).added, 1)
  world.clock.at += 3 * 86_400_000
  const computed = await computeSegment(world, { projectId, id })
  assert.deepEqual(computed, { added: 0, removed: 1, total: 0 })
  assert.deepEqual(await toldOf(world, ids), ['recent entry 1', 'recent exit 1'])
})

test('a new name fires nothing, and names the events from then on', async (t) => {
  const { world, ids, target } = await openTracked(t)
  await computeSegment(world, target)
  await updateSegment(world, { ...target, changes: { name: 'Best People!' } })
  await computeSegment(world, target)
  await setPlan(world, ids[0] ?? '', 'free')
  await computeSegment(world, target)
  const told = await toldOf(world, ids)
  assert.deepEqual(told.slice(3), ['best-people exit 0'])
})

test('a tracked segment is what another one refers to', async (t) => {
  const { world, projectId, ids, target } = await openTracked(t)
  const tracked = { projectId, name: 'Upper', trackMembership: true }
  const upper = await createSegment(world, { ...tracked, condition: inSegment(target.id) })
  assert.equal(upper.memberCount, 0)
  await computeSegment(world, target)
  await computeSegment(world, { projectId, id: upper.id })
  assert.deepEqual(await membersOf(world, upper.id, ids), [0, 1, 2])
})

test('two computes at once, in one process or two, fire each event once', async (t) => {
  const { world, ids, target } = await openTracked(t, crowd(700))
  const elsewhere = { ...world, sharedRuns: createSharedRuns() }
  const done = await Promise.all([
    computeSegment(world, target),
    computeSegment(elsewhere, target),
    computeSegment(world, target),
    computeSegment(world, target),
  ])
  // The last two shared a turn.
  assert.equal(done[2], done[3])
  const [first, second, third] = done
  const sum = [first, second, third].reduce((added, each) => added + (each?.added ?? 0), 0)
  assert.equal(sum, 700)
  assert.ok(done.every(({ total }) => total <= 700))
  assert.equal(done[3]?.total, 700)
  assert.equal(new Set(await toldOf(world, ids)).size, 700)
  assert.equal(await world.store.read.$count(events), 700)
})

test('what another process computed meanwhile is not told again', async (t) => {
  const { world, ids, target } = await openTracked(t, crowd(4))
  await computeSegment(world, target)
  await setPlan(world, ids[0] ?? '', 'free')
  await setPlan(world, ids[1] ?? '', 'free')
  await computeSegment(world, target)
  await setPlan(world, ids[0] ?? '', 'pro')
  await setPlan(world, ids[2] ?? '', 'free')
  await addPeople(world, target.projectId, [{ email: 'new@x.test', data: { plan: 'pro' } }])
  const before = await toldOf(world, ids)
  const elsewhere = { ...world, sharedRuns: createSharedRuns() }
  const meanwhile = () => computeSegment(elsewhere, target)
  const computed = await computeSegment(beforeWrite(world, 1, meanwhile), target)
  assert.deepEqual(computed, { added: 0, removed: 0, total: 3 })
  const told = (await toldOf(world, ids)).slice(before.length)
  assert.deepEqual(told.sort(), ['pro entry -1', 'pro entry 0', 'pro exit 2'])
})

test('a crash in the middle loses nothing and repeats nothing', async (t) => {
  const { world, ids, target } = await openTracked(t, crowd(800))
  const crash = () => Promise.reject(new Error('power'))
  await assert.rejects(computeSegment(beforeWrite(world, 2, crash), target), /power/)
  assert.equal(await world.store.read.$count(events), 500)
  assert.equal(await world.store.read.$count(segmentMembers), 500)
  assert.deepEqual(await computeSegment(world, target), { added: 300, removed: 0, total: 800 })
  assert.equal(new Set(await toldOf(world, ids)).size, 800)
  assert.equal(await world.store.read.$count(events), 800)
})

test('a contact that is deleted meanwhile is passed over', async (t) => {
  const { world, ids, target } = await openTracked(t)
  const isFirst = eq(contacts.id, ids[0] ?? '')
  const remove = () => world.store.write((tx) => tx.delete(contacts).where(isFirst))
  const computed = await computeSegment(beforeWrite(world, 1, remove), target)
  assert.deepEqual(computed, { added: 2, removed: 0, total: 2 })
  assert.deepEqual(await toldOf(world, ids), ['pro entry 1', 'pro entry 2'])
})

test('a condition that changes meanwhile is the one that counts', async (t) => {
  const { world, ids, target } = await openTracked(t, crowd(800))
  await setPlan(world, ids[700] ?? '', 'free')
  const changes = { condition: planIs('free') }
  const change = () => updateSegment(world, { ...target, changes })
  const computed = await computeSegment(beforeWrite(world, 2, change), target)
  assert.deepEqual(computed, { added: 501, removed: 500, total: 1 })
  assert.deepEqual(await membersOf(world, target.id, ids), [700])
})

test('a segment that is deleted, or not tracked any more, meanwhile changes no more', async (t) => {
  const { world, ids, target } = await openTracked(t)
  const changes = { trackMembership: false }
  const untrack = () => updateSegment(world, { ...target, changes })
  await assert.rejects(
    computeSegment(beforeWrite(world, 1, untrack), target),
    isCoded('BAD_REQUEST'),
  )
  await updateSegment(world, { ...target, changes: { trackMembership: true } })
  const remove = () => deleteSegment(world, target)
  await assert.rejects(
    computeSegment(beforeWrite(world, 1, remove), target),
    isCoded('RESOURCE_NOT_FOUND'),
  )
  assert.deepEqual(await toldOf(world, ids), [])
  assert.equal(await world.store.read.$count(segmentMembers), 0)
})

test('a compute that finds nothing to change has no say once the condition is another', async (t) => {
  const { world, ids, target } = await openTracked(t)
  await computeSegment(world, target)
  await setPlan(world, ids[1] ?? '', 'free')
  await computeSegment(world, target)
  const changes = { condition: planIs('free') }
  const change = () => updateSegment(world, { ...target, changes })
  const computed = await computeSegment(beforeWrite(world, 1, change), target)
  assert.deepEqual(computed, { added: 1, removed: 2, total: 1 })
  assert.deepEqual(await membersOf(world, target.id, ids), [1])
  assert.equal((await rowOf(world, target.id)).memberCount, 1)
  const remove = () => deleteSegment(world, target)
  await assert.rejects(
    computeSegment(beforeWrite(world, 1, remove), target),
    isCoded('RESOURCE_NOT_FOUND'),
  )
})

test('a compute ends with its signal, and the next one goes on', async (t) => {
  const { world, target } = await openTracked(t, crowd(800))
  const abort = new AbortController()
  const stop = async () => abort.abort(new Error('stopping'))
  const stopped = computeSegment(beforeWrite(world, 1, stop), { ...target, signal: abort.signal })
  await assert.rejects(stopped, /stopping/)
  assert.equal(await world.store.read.$count(events), 500)
  assert.equal((await computeSegment(world, target)).added, 300)
})

test('whatever happens, entries and exits of a contact alternate, and the last is the state', async (t) => {
  const { world, ids, target } = await openTracked(t, crowd(6, 'free'))
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ who: fc.nat(5), plan: fc.constantFrom('pro', 'free') }) },
    { weight: 3, arbitrary: fc.constantFrom('compute', 'both', 'crash', 'untrack', 'track') },
    { weight: 1, arbitrary: fc.constantFrom('pro', 'free').map((condition) => ({ condition })) },
  )
  const act = async (taken: string | { who: number; plan: string } | { condition: string }) => {
    if (typeof taken === 'object' && 'who' in taken) {
      return setPlan(world, ids[taken.who] ?? '', taken.plan)
    }
    if (typeof taken === 'object') {
      return updateSegment(world, { ...target, changes: { condition: planIs(taken.condition) } })
    }
    if (taken === 'track' || taken === 'untrack') {
      const changes = { trackMembership: taken === 'track' }
      return updateSegment(world, { ...target, changes })
    }
    const crash = () => Promise.reject(new Error('power'))
    const computes = {
      compute: [world],
      both: [world, { ...world, sharedRuns: createSharedRuns() }],
      crash: [beforeWrite(world, 2, crash)],
    }[taken]
    return Promise.allSettled((computes ?? []).map((deps) => computeSegment(deps, target)))
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 12 }), async (steps) => {
      for (const taken of steps) await act(taken)
      await updateSegment(world, { ...target, changes: { trackMembership: true } })
      await computeSegment(world, target)
      const told = await toldOf(world, ids)
      const current = await membersOf(world, target.id, ids)
      const matching = await world.store.read.all<{ id: string }>(
        sql`select contacts.id from contacts, segments where segments.id = ${target.id}
          and contacts.data ->> '$.plan'
            = segments.condition ->> '$.groups[0].filters[0].value'`,
      )
      const expected = matching.map(({ id }) => ids.indexOf(id)).sort((a, b) => a - b)
      assert.deepEqual(current, expected)
      for (const who of ids.keys()) {
        const own = told.filter((text) => text.endsWith(` ${who}`))
        const changes = own.map((text) => text.split(' ')[1])
        const alternating = changes.map((_, index) => (index % 2 === 0 ? 'entry' : 'exit'))
        assert.deepEqual(changes, alternating)
        assert.equal(changes.at(-1) === 'entry', current.includes(who))
      }
    }),
    { numRuns: 15 },
  )
})
