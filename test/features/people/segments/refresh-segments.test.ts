import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSchedule } from '../../../../src/core/areas.ts'
import { refreshSegments } from '../../../../src/features/people/segments/compute.ts'
import { createSegment } from '../../../../src/features/people/segments/edit-segment.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { segments } from '../../../../src/store/schema/segments.ts'
import { addProject, openTestCore, type TestCore } from '../../../core.ts'
import { addContacts } from '../contacts/add-contacts.ts'
import {
  inSegment,
  loadSegmentRecord,
  makeContacts,
  membersOf,
  planIs,
  segmentEvents,
} from './segment-contacts.ts'

const running = () => new AbortController().signal

/** A core that records warnings of the log. */
function listening(core: TestCore): { core: TestCore; warnings: string[] } {
  const warnings: string[] = []
  const warn = (facts: { segmentId?: string }) => warnings.push(facts.segmentId ?? '')
  return { core: { ...core, log: { ...core.log, warn } as unknown as TestCore['log'] }, warnings }
}

test('every five minutes all segments are counted, or computed where they have membership events', async (t) => {
  const core = await openTestCore(t)
  const [one, other] = [await addProject(core), await addProject(core, 'Other')]
  const of = (projectId: string, name: string, hasMembershipEvents: boolean) =>
    createSegment(core, { projectId, name, condition: planIs('pro'), hasMembershipEvents })
  const counted = await of(one.id, 'Counted', false)
  const tracked = await of(one.id, 'Tracked', true)
  const theirs = await of(other.id, 'Theirs', true)
  const ids = await addContacts(core, one.id, makeContacts(3))
  core.clock.now += 300_000
  await refreshSegments(core, running())
  for (const [{ id }, memberCount] of [
    [counted, 3],
    [tracked, 3],
    [theirs, 0],
  ] as const) {
    const row = await loadSegmentRecord(core, id)
    assert.deepEqual([row.memberCount, row.countedAt], [memberCount, core.clock.now])
    assert.equal(row.updatedAt, row.createdAt)
  }
  assert.deepEqual(await membersOf(core, tracked.id, ids), [0, 1, 2])
  const emitted = ['tracked entry 0', 'tracked entry 1', 'tracked entry 2']
  assert.deepEqual(await segmentEvents(core, ids), emitted)
  await refreshSegments(core, running())
  assert.deepEqual(await segmentEvents(core, ids), emitted)
})

test('S31: many segments of one project do not delay those of another', async (t) => {
  const core = await openTestCore(t)
  const [many, other] = [await addProject(core), await addProject(core, 'Other')]
  const of = (projectId: string, name: string) =>
    createSegment(core, { projectId, name, condition: planIs('pro'), hasMembershipEvents: false })
  const made: { id: string }[] = []
  for (let index = 0; index < 8; index += 1) made.push(await of(many.id, `Segment ${index}`))
  made.push(await of(other.id, 'Theirs'))
  const beganAt = core.clock.now
  // Each look at the clock takes 20 seconds.
  const now = () => (core.clock.now += 20_000)
  const order = async () => {
    const rows = await Promise.all(made.map(({ id }) => loadSegmentRecord(core, id)))
    const counted = rows.filter(({ countedAt }) => (countedAt ?? 0) > beganAt)
    return counted.sort((a, b) => (a.countedAt ?? 0) - (b.countedAt ?? 0)).map(({ name }) => name)
  }
  await refreshSegments({ ...core, now }, running())
  const first = await order()
  assert.equal(first[1], 'Theirs')
  assert.ok(first.length < 9, `the round ends after five minutes, with ${first.length}`)
  while ((await order()).length < 9) await refreshSegments({ ...core, now }, running())
})

test('a segment that fails is logged, and the others are refreshed', async (t) => {
  const { core, warnings } = listening(await openTestCore(t))
  const { id: projectId } = await addProject(core)
  const of = (name: string, hasMembershipEvents: boolean) =>
    createSegment(core, { projectId, name, condition: planIs('pro'), hasMembershipEvents })
  const made = [await of('A', false), await of('B', true), await of('C', false)]
  const broken = await of('D', true)
  const condition = inSegment(newId())
  const isBroken = eq(segments.id, broken.id)
  await core.store.write((tx) =>
    tx.update(segments).set({ condition, countedAt: 0 }).where(isBroken),
  )
  await addContacts(core, projectId, makeContacts(2))
  await refreshSegments(core, running())
  assert.deepEqual(warnings, [broken.id])
  for (const { id } of made) assert.equal((await loadSegmentRecord(core, id)).memberCount, 2)
  assert.equal(await core.store.read.$count(events), 2)
})

test('an aborted round stops, and the next one starts with the oldest count', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  for (const name of ['A', 'B', 'C']) {
    await createSegment(core, { projectId, name, condition: planIs('pro') })
  }
  await addContacts(core, projectId, makeContacts(1))
  const countOne = async () => {
    const abort = new AbortController()
    const write: TestCore['store']['write'] = async (fn) => {
      abort.abort(new Error('stopping'))
      return core.store.write(fn)
    }
    core.clock.now += 1000
    const stopping = { ...core, store: { ...core.store, write } }
    await assert.rejects(refreshSegments(stopping, abort.signal), /stopping/)
    const rows = await core.store.read.select().from(segments).orderBy(segments.id)
    return rows.map(({ memberCount }) => memberCount)
  }
  assert.deepEqual(await countOne(), [1, 0, 0])
  assert.deepEqual(await countOne(), [1, 1, 0])
  await refreshSegments(core, running())
  assert.deepEqual(await core.store.read.$count(segments, eq(segments.memberCount, 1)), 3)
})

test('a segment that is deleted during a round is skipped', async (t) => {
  const { core, warnings } = listening(await openTestCore(t))
  const { id: projectId } = await addProject(core)
  const of = (name: string) => createSegment(core, { projectId, name, condition: planIs('pro') })
  const [first, second] = [await of('A'), await of('B')]
  const write: TestCore['store']['write'] = async (fn) => {
    await core.store.write((tx) => tx.delete(segments).where(eq(segments.id, second.id)))
    return core.store.write(fn)
  }
  await addContacts(core, projectId, makeContacts(1))
  await refreshSegments({ ...core, store: { ...core.store, write } }, running())
  assert.equal((await loadSegmentRecord(core, first.id)).memberCount, 1)
  assert.deepEqual(warnings, [])
})

test('the schedule runs the refresh in a slot of its own, and the job for member rows is registered', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const { handlers, cron, limits } = createSchedule(core)
  assert.equal(limits['refresh-segments'], 1)
  assert.equal(cron.find(({ name }) => name === 'refresh-segments')?.schedule, '*/5 * * * *')
  assert.ok(handlers['clear-segment'])
  const { id } = await createSegment(core, { projectId, name: 'A', condition: planIs('pro') })
  await addContacts(core, projectId, makeContacts(1))
  const job = { signal: running() } as unknown as Parameters<
    NonNullable<(typeof handlers)['refresh-segments']>
  >[0]
  await handlers['refresh-segments']?.(job)
  assert.equal((await loadSegmentRecord(core, id)).memberCount, 1)
})
