/** The line of chains: 1,000 of their executions begin in a project in a minute, the others wait. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE_MS } from '../../../../../src/base/clock.ts'
import { appendForContacts } from '../../../../../src/features/ground/events/append.ts'
import { startUrgentReader } from '../../../../../src/features/ground/events/readers.ts'
import { countWork } from '../../../../../src/features/operation/metrics/work-gauges.ts'
import { fenceDatabase } from '../../../../../src/features/operation/recovery/fence-database.ts'
import { releaseFences } from '../../../../../src/features/operation/recovery/release.ts'
import { triggerHandler } from '../../../../../src/features/outreach/workflows/engine/follow-events.ts'
import { createGraphs } from '../../../../../src/features/outreach/workflows/engine/graphs.ts'
import { createStepValues } from '../../../../../src/features/outreach/workflows/engine/step-values.ts'
import { takeTurn } from '../../../../../src/features/outreach/workflows/engine/turn.ts'
import {
  cancelAllExecutions,
  settleCancelled,
} from '../../../../../src/features/outreach/workflows/executions/cancel-all.ts'
import { viewWorkflowStats } from '../../../../../src/features/outreach/workflows/executions/stats.ts'
import { count, eq } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import {
  chainStarts,
  workflowExecutions,
  workflows,
} from '../../../../../src/store/schema/workflows.ts'
import { addProject } from '../../../../core.ts'
import { listExecutions } from '../../../../lists.ts'
import { addContacts } from '../../../people/contacts/add-contacts.ts'
import { createRunner } from '../engine/run-due.ts'
import { buildWorkflow } from '../engine/workflow-rows.ts'
import { EXIT, openChains } from './chain-core.ts'

const PLACES = 1_000

/**
 * A workflow on `go`; `begin` records the event for contacts at once, as an execution would. `taken`: places
 * of the first minute that others have.
 */
async function openLine(t: Parameters<typeof openChains>[0], people: number, taken = 0) {
  const chains = await openChains(t)
  const { core, projectId } = chains
  const { id } = await chains.flow('go')
  const ids = await chains.addPeople(people)
  const minuteAt = core.now() - (core.now() % MINUTE_MS)
  await core.store.write((tx) =>
    tx.insert(chainStarts).values({ projectId, minuteAt, begun: taken }).run(),
  )
  const begin = async (contactIds = ids, depth = 1) => {
    const depths = new Map(contactIds.map((contactId) => [contactId, depth]))
    const event = { projectId, name: 'go', data: null, at: core.now() }
    await core.store.write((tx) => appendForContacts(tx, event, contactIds, depths))
    await chains.runner.run()
  }
  /** How many executions have each status. */
  const states = async () => {
    const { status } = workflowExecutions
    const rows = await core.store.read
      .select({ status, executions: count() })
      .from(workflowExecutions)
      .groupBy(status)
    return Object.fromEntries(rows.map((row) => [row.status, row.executions]))
  }
  return { ...chains, key: { projectId, id }, people: ids, begin, states }
}

test('S34: a thousand executions of chains begin in a minute, and the others in later ones', async (t) => {
  const { core, key, begin, states, runner, executions, eventsAfter } = await openLine(
    t,
    1_100,
    PLACES - 50,
  )
  await begin()
  assert.deepEqual(await states(), { EXITED: 50, WAITING: 1_050 })
  const begun = async () =>
    (await eventsAfter(0)).filter(({ name }) => name === 'workflow.started').length
  assert.equal(await begun(), 50, 'who waits has not started')
  const stats = await viewWorkflowStats(core, key)
  assert.deepEqual([stats.executions.chainDelayed, stats.executions.waiting], [1_050, 1_050])
  assert.equal((await countWork(core)).inLine, 1_050)
  const page = await listExecutions(core, { ...key, status: 'WAITING' })
  assert.deepEqual([page.executions[0]?.heldReason, page.executions[0]?.depth], ['chain', 1])
  await runner.run()
  assert.deepEqual(await states(), { EXITED: 50, WAITING: 1_050 }, 'nothing is due')
  core.clock.now += MINUTE_MS
  await runner.run()
  assert.deepEqual(await states(), { EXITED: 50 + PLACES, WAITING: 50 })
  core.clock.now += MINUTE_MS
  await runner.run()
  assert.deepEqual(await states(), { EXITED: 1_100 })
  assert.equal(await begun(), 1_100)
  assert.equal(new Set((await executions()).map(({ contactId }) => contactId)).size, 1_100)
})

test('S34: after a downtime, who waited for several minutes begins a thousand a minute', async (t) => {
  const { core, begin, states, runner } = await openLine(t, PLACES + 50, PLACES)
  await begin()
  core.clock.now += 60 * MINUTE_MS
  await runner.run()
  assert.deepEqual(await states(), { EXITED: PLACES, WAITING: 50 })
  core.clock.now += MINUTE_MS
  await runner.run()
  assert.deepEqual(await states(), { EXITED: PLACES + 50 })
})

test('S34: starts that are no part of a chain, and those of other projects, do not wait', async (t) => {
  const { core, people, begin, states, runner, track, executions } = await openLine(
    t,
    4,
    PLACES - 3,
  )
  const other = await addProject(core, 'Other')
  const theirs = await buildWorkflow(core, {
    ...{ projectId: other.id, event: 'go', steps: { step: EXIT } },
    transitions: [['trigger', 'step']],
  })
  const [stranger = ''] = await addContacts(core, other.id, [{ email: 'eve@people.test' }])
  await begin()
  assert.deepEqual(await states(), { EXITED: 3, WAITING: 1 })
  await track('go')
  await core.store.write((tx) =>
    appendForContacts(
      tx,
      { projectId: other.id, name: 'go', data: null, at: core.now() },
      [stranger],
      new Map([[stranger, 1]]),
    ),
  )
  await runner.run()
  assert.deepEqual(await states(), { EXITED: 5, WAITING: 1 })
  assert.ok((await executions()).some(({ workflowId }) => workflowId === theirs.id))
  await begin(people.slice(0, 1))
  assert.deepEqual(await states(), { EXITED: 5, WAITING: 2 }, 'nobody overtakes')
})

test('S34: a place is taken and an execution begins together, or not at all', async (t) => {
  const { core, key, projectId, people, begin, states, runner } = await openLine(t, 3)
  const [first = '', ...others] = people
  await begin([first])
  await runner.stop()
  const follower = startUrgentReader(core, [triggerHandler(core)])
  const event = { projectId, name: 'go', data: null, at: core.now() }
  const depths = new Map(others.map((id) => [id, 1]))
  await core.store.write((tx) => appendForContacts(tx, event, others, depths))
  await follower.caughtUp().finally(follower.stop)
  const places = async () => (await core.store.read.select().from(chainStarts).get())?.begun
  const write: typeof core.store.write = (fn) =>
    core.store.write(async (tx) => {
      await fn(tx)
      throw new Error('killed before the commit')
    })
  const killed = {
    ...core,
    store: { ...core.store, write },
    graphs: createGraphs(),
    values: createStepValues(core),
  }
  const turn = takeTurn(killed, { projectId, workflowId: key.id }, { limit: 50, isHeavy: true })
  await assert.rejects(turn, /killed before the commit/)
  assert.deepEqual([await states(), await places()], [{ EXITED: 1, WAITING: 2 }, 1])
  const later = await createRunner(core)
  await later.run().finally(later.stop)
  assert.deepEqual([await states(), await places()], [{ EXITED: 3 }, 3])
})

test('S34: who waits is cancelled with all others, and gives the place up', async (t) => {
  const { core, key, people, begin, states } = await openLine(t, 13, PLACES - 3)
  await begin()
  assert.equal(await cancelAllExecutions(core, key), 10)
  await settleCancelled(core)
  assert.deepEqual(await states(), { EXITED: 3, CANCELLED: 10 })
  core.clock.now += MINUTE_MS
  await begin(people.slice(0, 5))
  assert.deepEqual(await states(), { EXITED: 8, CANCELLED: 10 })
})

test('S34: who waits for a workflow that was disabled meanwhile never begins', async (t) => {
  const { core, begin, states, runner, people, executions } = await openLine(t, 5, PLACES - 3)
  await begin()
  const set = (isEnabled: boolean) =>
    core.store.write((tx) => tx.update(workflows).set({ isEnabled }).run())
  await set(false)
  core.clock.now += MINUTE_MS
  await runner.run()
  assert.deepEqual(await states(), { EXITED: 3, CANCELLED: 2 })
  const cut = (await executions()).find(({ status }) => status === 'CANCELLED')
  assert.equal(cut?.exitReason, 'workflow disabled')
  await set(true)
  await core.store.write((tx) => tx.update(workflows).set({ allowsReentry: false }).run())
  await begin(people.slice(-1))
  assert.deepEqual(await states(), { EXITED: 4, CANCELLED: 2 }, 'it held nobody back')
})

test('S34: who waits in a project that was disabled, or for a contact that is gone, never begins', async (t) => {
  const { core, begin, states, runner } = await openLine(t, 5, PLACES - 3)
  await begin()
  const [row] = (await core.store.read.select().from(workflowExecutions)).filter(
    ({ status }) => status === 'WAITING',
  )
  const gone = row?.contactId ?? ''
  await core.store.write((tx) => tx.delete(contacts).where(eq(contacts.id, gone)).run())
  assert.deepEqual(await states(), { EXITED: 3, WAITING: 1 })
  await core.store.write((tx) => tx.update(projects).set({ isDisabled: true }).run())
  core.directory.drop()
  core.clock.now += MINUTE_MS
  await runner.run()
  assert.deepEqual(await states(), { EXITED: 3, CANCELLED: 1 })
})

test('S34: a fence holds who waits', async (t) => {
  const { core, key, projectId, begin, states, runner } = await openLine(t, 5, PLACES - 3)
  await begin()
  await fenceDatabase(core, { cause: 'start', isAlone: true })
  core.clock.now += MINUTE_MS
  const turn = { ...core, graphs: createGraphs(), values: createStepValues(core) }
  for (const limit of [1, 50]) {
    assert.equal(
      (await takeTurn(turn, { projectId, workflowId: key.id }, { limit, isHeavy: true })).walked,
      0,
    )
  }
  assert.deepEqual(await states(), { EXITED: 3, WAITING: 2 })
  await releaseFences(core)
  await runner.run()
  assert.deepEqual(await states(), { EXITED: 5 })
})

test('S34: a fan-out of ten to each start grows no faster than the places, and ends', async (t) => {
  const { core, projectId, runner, make, addPeople, flow, executions } = await openChains(t)
  const people = await addPeople(2)
  for (let number = 0; number < 10; number += 1) await flow('workflow.completed')
  const minuteAt = core.now() - (core.now() % MINUTE_MS)
  const taken = { projectId, minuteAt, begun: PLACES - 50 }
  await core.store.write((tx) => tx.insert(chainStarts).values(taken).run())
  for (const person of people) await make('workflow.completed', person)
  await runner.run()
  const chained = async () => (await executions()).filter(({ depth }) => depth > 0)
  const begun = async () => (await chained()).filter(({ stepsDone }) => stepsDone > 0).length
  assert.equal(await begun(), 50)
  for (let minute = 0; minute < 10; minute += 1) {
    core.clock.now += MINUTE_MS
    await runner.run()
  }
  const all = await chained()
  assert.ok(all.length > 50)
  assert.ok(all.every(({ status, dueAt }) => dueAt === null && status !== 'WAITING'))
  assert.equal(await runner.run(), 0)
})

test('S34: nobody queues behind a place that was given while the clock was ahead', async (t) => {
  const { core, people, begin, states } = await openLine(t, 3, PLACES)
  await begin(people.slice(0, 1))
  const far = core.now() + 400 * 24 * 60 * MINUTE_MS
  await core.store.write((tx) => tx.update(workflowExecutions).set({ dueAt: far }))
  core.clock.now += MINUTE_MS
  await begin(people.slice(1))
  assert.deepEqual(await states(), { WAITING: 1, EXITED: 2 })
})
