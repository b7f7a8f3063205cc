/** A contact that an execution moved into or out of a segment: the event is deeper than the execution. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition } from '../../../../src/features/ground/conditions/condition.ts'
import { updateContact } from '../../../../src/features/people/contacts/write/update.ts'
import { deleteSeenChanges } from '../../../../src/features/people/segments/caused-changes.ts'
import { computeSegment } from '../../../../src/features/people/segments/compute.ts'
import {
  createSegment,
  updateSegment,
} from '../../../../src/features/people/segments/edit-segment.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { causedChanges } from '../../../../src/store/schema/segments.ts'
import { addProject } from '../../../core.ts'
import { openChains } from '../../outreach/workflows/chains/chain-core.ts'
import type { StepSpec } from '../../outreach/workflows/engine/workflow-rows.ts'
import { addContacts } from '../contacts/add-contacts.ts'
import { inSegment, planIs, where } from './segment-contacts.ts'

const setting = (updates: object): StepSpec => ({ type: 'UPDATE_CONTACT', config: { updates } })

async function open(t: Parameters<typeof openChains>[0], condition: Condition = planIs('pro')) {
  const chains = await openChains(t)
  const { core, projectId } = chains
  const tracked = async (name: string, ofCondition: Condition, hasMembershipEvents = true) => {
    const given = { projectId, name, condition: ofCondition, hasMembershipEvents }
    const { id } = await createSegment(core, given)
    return { projectId, id }
  }
  const target = await tracked('Pro', condition)
  const [ada = '', bob = ''] = await chains.addPeople(2)
  await chains.flow('to pro', setting({ plan: 'pro' }))
  await chains.flow('to free', setting({ plan: 'free' }))
  /** The events of segments so far: name and depth. */
  const moves = async () =>
    (await chains.eventsAfter(0))
      .filter(({ name }) => name.startsWith('segment.'))
      .map(({ name, contactId, depth }) => `${contactId === ada ? 'ada' : 'bob'} ${name} ${depth}`)
  const walk = async (name: string, contactId: string, depth?: number) => {
    await chains.make(name, contactId, depth)
    await chains.runner.run()
  }
  return { ...chains, tracked, target, ada, bob, moves, walk }
}

test('S34: the event of a segment carries the depth of the execution that changed the contact', async (t) => {
  const { core, projectId, target, ada, bob, moves, walk } = await open(t)
  await walk('to pro', ada, 2)
  const changes = { data: { plan: 'pro' } }
  await updateContact(core, { projectId, id: bob }, changes)
  await computeSegment(core, target)
  const entered = ['ada segment.pro.entry 3', 'bob segment.pro.entry null']
  assert.deepEqual((await moves()).toSorted(), entered)
  await computeSegment(core, target)
  await updateContact(core, { projectId, id: ada }, { data: { plan: 'free' } })
  await computeSegment(core, target)
  assert.equal((await moves()).at(-1), 'ada segment.pro.exit null', 'the cause was seen before')
})

test('S34: what others change meanwhile does not hide the cause, nor does a shallower one', async (t) => {
  const { core, projectId, target, ada, moves, walk } = await open(t)
  await walk('to pro', ada, 4)
  await walk('to free', ada, 1)
  await walk('to pro', ada)
  await updateContact(core, { projectId, id: ada }, { data: { other: 1 } })
  await computeSegment(core, target)
  assert.deepEqual(await moves(), ['ada segment.pro.entry 5'])
  await walk('to free', ada)
  await computeSegment(core, target)
  assert.equal((await moves()).at(-1), 'ada segment.pro.exit 1', 'what was seen counts no more')
})

test('S34: a computation that is interrupted has seen nothing', async (t) => {
  const { core, target, ada, moves, walk } = await open(t)
  await walk('to pro', ada, 1)
  await assert.rejects(computeSegment(core, { ...target, signal: AbortSignal.abort() }))
  await computeSegment(core, target)
  assert.deepEqual(await moves(), ['ada segment.pro.entry 2'])
})

test('S34: a segment of a segment carries the depth on, in whatever order they are computed', async (t) => {
  const { core, tracked, target, ada, moves, walk } = await open(t)
  const outer = await tracked('Outer', inSegment(target.id))
  await walk('to pro', ada, 1)
  await computeSegment(core, outer)
  await computeSegment(core, target)
  await computeSegment(core, outer)
  const entered = ['ada segment.pro.entry 2', 'ada segment.outer.entry 2']
  assert.deepEqual(await moves(), entered)
})

test('S34: events of executions are causes where a condition asks for them, those of people are not', async (t) => {
  const happened = (name: string) => where({ field: `event.${name}`, operator: 'triggered' })
  const { core, tracked, target, ada, bob, moves, walk, make } = await open(
    t,
    happened('workflow.completed'),
  )
  const hidden = await tracked('Hidden', happened('workflow.started'), false)
  const outer = await tracked('Outer', inSegment(hidden.id))
  const custom = await tracked('Custom', happened('order'))
  await walk('to pro', ada, 3)
  await make('order', bob)
  for (const segment of [target, outer, custom]) await computeSegment(core, segment)
  assert.deepEqual(await moves(), [
    'ada segment.pro.entry 4',
    'ada segment.outer.entry 4',
    'bob segment.custom.entry null',
  ])
})

test('S34: a segment that begins to record events takes nothing before for a cause', async (t) => {
  const { core, projectId, tracked, ada, moves, walk } = await open(t)
  await walk('to pro', ada, 3)
  const late = await tracked('Late', planIs('pro'))
  const silent = await tracked('Silent', planIs('pro'), false)
  await updateSegment(core, { ...silent, projectId, changes: { hasMembershipEvents: true } })
  for (const segment of [late, silent]) await computeSegment(core, segment)
  assert.deepEqual(await moves(), ['ada segment.late.entry null', 'ada segment.silent.entry null'])
})

test('S34: a contact has one cause at most, and none without a segment that records events', async (t) => {
  const { core, ada, walk } = await open(t)
  await walk('to pro', ada)
  await walk('to free', ada)
  assert.equal(await core.store.read.$count(causedChanges), 1)
  await core.store.write((tx) => tx.run(sql`delete from segments`))
  await walk('to pro', ada)
  assert.equal(await core.store.read.$count(causedChanges), 0)
})

test('S34: a workflow that moves a contact in and out of a segment ends after five starts', async (t) => {
  const { core, target, ada, flow, runner, track, executions } = await open(t)
  await flow('segment.pro.entry', setting({ plan: 'free' }))
  await flow('segment.pro.exit', setting({ plan: 'pro' }))
  await track('hello')
  const changes = { data: { plan: 'pro' } }
  await updateContact(core, { projectId: target.projectId, id: ada }, changes)
  for (let round = 0; round < 20; round += 1) {
    await computeSegment(core, target)
    await runner.run()
    core.clock.now += 300_000
  }
  const rows = await executions()
  assert.deepEqual(
    rows.map(({ depth }) => depth),
    [0, 1, 2, 3, 4, 5, 6],
  )
  assert.equal(rows.at(-1)?.exitReason, 'chain too deep')
})

test('S34: a segment that is never computed keeps no cause open', async (t) => {
  const { core, projectId, ada, moves, target, walk } = await open(t)
  await createSegment(core, { projectId, name: 'Fixed', type: 'STATIC', hasMembershipEvents: true })
  for (const [index, flow] of ['to pro', 'to free', 'to pro', 'to free'].entries()) {
    await walk(flow, ada, index === 0 ? 3 : undefined)
    await computeSegment(core, target)
  }
  assert.deepEqual(await moves(), [
    'ada segment.pro.entry 4',
    'ada segment.pro.exit 1',
    'ada segment.pro.entry 1',
    'ada segment.pro.exit 1',
  ])
})

test('S34: a segment whose computation always fails keeps causes open for a day', async (t) => {
  const { core, projectId, tracked, ada, moves, target, walk } = await open(t)
  const gone = await createSegment(core, { projectId, name: 'Gone', condition: planIs('x') })
  const stuck = await tracked('Stuck', inSegment(gone.id))
  await core.store.write((tx) => tx.run(sql`delete from segments where id = ${gone.id}`))
  await walk('to pro', ada, 3)
  await computeSegment(core, target)
  await assert.rejects(computeSegment(core, stuck))
  await walk('to free', ada)
  await computeSegment(core, target)
  core.clock.now += 25 * 3_600_000
  for (const [index, flow] of ['to pro', 'to free', 'to pro'].entries()) {
    await computeSegment(core, target)
    await walk(flow, ada, index === 0 ? undefined : 1)
    await computeSegment(core, target)
  }
  assert.deepEqual(await moves(), [
    'ada segment.pro.entry 4',
    'ada segment.pro.exit 4',
    'ada segment.pro.entry 1',
    'ada segment.pro.exit 2',
    'ada segment.pro.entry 2',
  ])
})

test('causes end when each segment that is computed has seen them', async (t) => {
  const { core, projectId, tracked, ada, bob, target, moves, walk } = await open(t)
  const outer = await tracked('Outer', inSegment(target.id))
  const signal = new AbortController().signal
  const left = async () => {
    await deleteSeenChanges(core, signal)
    return core.store.read.$count(causedChanges)
  }
  await walk('to pro', ada, 1)
  assert.equal(await left(), 1)
  await computeSegment(core, target)
  assert.equal(await left(), 1, 'the other segment has not seen it')
  await walk('to pro', bob, 2)
  await computeSegment(core, outer)
  assert.equal(
    await left(),
    2,
    'a membership of a segment that another one asks for is a change, too',
  )
  for (const segment of [target, outer, target, outer]) await computeSegment(core, segment)
  assert.equal(await left(), 0)
  const entered = [
    'ada segment.pro.entry 2',
    'ada segment.outer.entry 2',
    'bob segment.pro.entry 3',
  ]
  assert.deepEqual(await moves(), [...entered, 'bob segment.outer.entry 3'])
  await walk('to free', ada)
  core.clock.now += 8 * 86_400_000
  assert.equal(await left(), 1, 'no segment has seen it: the server may have been off')
  // The first computation records the change of the membership for the other segment.
  for (let times = 0; times < 2; times += 1) await computeSegment(core, target)
  assert.equal(await left(), 0, 'the other segment is not computed any more')
  await walk('to pro', ada)
  await core.store.write((tx) => tx.run(sql`delete from segments where project_id = ${projectId}`))
  assert.equal(await left(), 0)
})

test('any number of causes end in batches, and those of other projects stay', async (t) => {
  const { core, projectId, target } = await open(t)
  const emails = Array.from({ length: 2_500 }, (_, index) => ({ email: `${index}@many.test` }))
  const { id: otherId } = await addProject(core, 'Other')
  await createSegment(core, {
    ...{ projectId: otherId, name: 'Pro', condition: planIs('pro'), hasMembershipEvents: true },
  })
  const ids = [
    ...(await addContacts(core, projectId, emails)),
    ...(await addContacts(core, otherId, emails.slice(0, 1))),
  ]
  await core.store.write(async (tx) => {
    for (const id of ids)
      await tx.run(sql`insert into caused_changes (contact_id, depth) values (${id}, 1)`)
  })
  await computeSegment(core, target)
  assert.equal(await deleteSeenChanges(core, new AbortController().signal), 2_500)
  const kept = await core.store.read.select().from(causedChanges)
  assert.deepEqual(
    kept.map(({ contactId }) => contactId),
    ids.slice(-1),
  )
})
