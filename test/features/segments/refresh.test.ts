import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Core } from '../../../src/features/core.ts'
import { createSchedule } from '../../../src/features/schedule.ts'
import { createSegment } from '../../../src/features/segments/create.ts'
import { refreshSegments } from '../../../src/features/segments/refresh.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { events } from '../../../src/store/schema/events.ts'
import { segments } from '../../../src/store/schema/segments.ts'
import { addProject, openWorld, type World } from '../world.ts'
import { addPeople, crowd, inSegment, membersOf, planIs, rowOf, toldOf } from './people.ts'

const running = () => new AbortController().signal

/** A world that keeps what is logged as a warning. */
function listening(world: World): { world: World; warnings: string[] } {
  const warnings: string[] = []
  const warn = (facts: { segment?: string }) => warnings.push(facts.segment ?? '')
  return { world: { ...world, log: { ...world.log, warn } as unknown as World['log'] }, warnings }
}

test('every five minutes all are counted, and tracked ones computed', async (t) => {
  const world = await openWorld(t)
  const [one, other] = [await addProject(world), await addProject(world, 'Other')]
  const of = (projectId: string, name: string, trackMembership: boolean) =>
    createSegment(world, { projectId, name, condition: planIs('pro'), trackMembership })
  const counted = await of(one.id, 'Counted', false)
  const tracked = await of(one.id, 'Tracked', true)
  const theirs = await of(other.id, 'Theirs', true)
  const ids = await addPeople(world, one.id, crowd(3))
  world.clock.at += 300_000
  await refreshSegments(world, running())
  for (const [{ id }, memberCount] of [
    [counted, 3],
    [tracked, 3],
    [theirs, 0],
  ] as const) {
    const row = await rowOf(world, id)
    assert.deepEqual([row.memberCount, row.countedAt], [memberCount, world.clock.at])
    assert.equal(row.updatedAt, row.createdAt)
  }
  assert.deepEqual(await membersOf(world, tracked.id, ids), [0, 1, 2])
  const told = ['tracked entry 0', 'tracked entry 1', 'tracked entry 2']
  assert.deepEqual(await toldOf(world, ids), told)
  await refreshSegments(world, running())
  assert.deepEqual(await toldOf(world, ids), told)
})

test('a segment that fails is logged, and the others are refreshed', async (t) => {
  const { world, warnings } = listening(await openWorld(t))
  const { id: projectId } = await addProject(world)
  const of = (name: string, trackMembership: boolean) =>
    createSegment(world, { projectId, name, condition: planIs('pro'), trackMembership })
  const made = [await of('A', false), await of('B', true), await of('C', false)]
  const broken = await of('D', true)
  const condition = inSegment(newId())
  const isBroken = eq(segments.id, broken.id)
  await world.store.write((tx) =>
    tx.update(segments).set({ condition, countedAt: 0 }).where(isBroken),
  )
  await addPeople(world, projectId, crowd(2))
  await refreshSegments(world, running())
  assert.deepEqual(warnings, [broken.id])
  for (const { id } of made) assert.equal((await rowOf(world, id)).memberCount, 2)
  assert.equal(await world.store.read.$count(events), 2)
})

test('a round that is told to stop goes no further; the next begins with the oldest', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  for (const name of ['A', 'B', 'C']) {
    await createSegment(world, { projectId, name, condition: planIs('pro') })
  }
  await addPeople(world, projectId, crowd(1))
  const countOne = async () => {
    const abort = new AbortController()
    const write: World['store']['write'] = async (fn) => {
      abort.abort(new Error('stopping'))
      return world.store.write(fn)
    }
    world.clock.at += 1000
    const stopping = { ...world, store: { ...world.store, write } }
    await assert.rejects(refreshSegments(stopping, abort.signal), /stopping/)
    const rows = await world.store.read.select().from(segments).orderBy(segments.id)
    return rows.map(({ memberCount }) => memberCount)
  }
  assert.deepEqual(await countOne(), [1, 0, 0])
  assert.deepEqual(await countOne(), [1, 1, 0])
  await refreshSegments(world, running())
  assert.deepEqual(await world.store.read.$count(segments, eq(segments.memberCount, 1)), 3)
})

test('a segment that is deleted during a round is passed over', async (t) => {
  const { world, warnings } = listening(await openWorld(t))
  const { id: projectId } = await addProject(world)
  const of = (name: string) => createSegment(world, { projectId, name, condition: planIs('pro') })
  const [first, second] = [await of('A'), await of('B')]
  const write: World['store']['write'] = async (fn) => {
    await world.store.write((tx) => tx.delete(segments).where(eq(segments.id, second.id)))
    return world.store.write(fn)
  }
  await addPeople(world, projectId, crowd(1))
  await refreshSegments({ ...world, store: { ...world.store, write } }, running())
  assert.equal((await rowOf(world, first.id)).memberCount, 1)
  assert.deepEqual(warnings, [])
})

test('the schedule has both the round, in a place of its own, and the clearing away', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const { handlers, cron, limits } = createSchedule(world as unknown as Core)
  assert.equal(limits['refresh-segments'], 1)
  assert.equal(cron.find(({ name }) => name === 'refresh-segments')?.schedule, '*/5 * * * *')
  assert.ok(handlers['clear-segment'])
  const { id } = await createSegment(world, { projectId, name: 'A', condition: planIs('pro') })
  await addPeople(world, projectId, crowd(1))
  const job = { signal: running() } as unknown as Parameters<
    NonNullable<(typeof handlers)['refresh-segments']>
  >[0]
  await handlers['refresh-segments']?.(job)
  assert.equal((await rowOf(world, id)).memberCount, 1)
})
