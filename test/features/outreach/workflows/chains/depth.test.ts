/** Chains of workflows end: each event that an execution makes is one deeper than the execution. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR_MS } from '../../../../../src/base/clock.ts'
import {
  BULK_START_KIND,
  runBulkStart,
  startMany,
} from '../../../../../src/features/outreach/workflows/executions/bulk.ts'
import { startOne } from '../../../../../src/features/outreach/workflows/executions/start-executions.ts'
import { viewWorkflowStats } from '../../../../../src/features/outreach/workflows/executions/stats.ts'
import { fireDue } from '../../../../../src/features/outreach/workflows/schedule/loop.ts'
import { createSegment } from '../../../../../src/features/people/segments/edit-segment.ts'
import { workflows } from '../../../../../src/store/schema/workflows.ts'
import { claimJob } from '../../../../work/jobs/running.ts'
import { createRunner } from '../engine/run-due.ts'
import type { StepSpec } from '../engine/workflow-rows.ts'
import { countBy, EXIT, openChains, subscribing } from './chain-core.ts'

const stateOf = ({ status, exitReason }: { status: string; exitReason: string | null }) =>
  `${status} ${exitReason ?? ''}`.trim()

/** Two workflows that feed each other: each undoes what the other does. */
async function openPair(t: Parameters<typeof openChains>[0]) {
  const chains = await openChains(t)
  const stop = await chains.flow('contact.subscribed', subscribing('unsubscribe'))
  const go = await chains.flow('contact.unsubscribed', subscribing('subscribe'))
  return { ...chains, stop, go }
}

test('S34: two workflows that feed each other end after five starts behind the first', async (t) => {
  const { core, projectId, runner, track, executions, stop, go } = await openPair(t)
  await track('hello')
  await track('hello', { subscribed: false })
  await runner.run()
  const rows = await executions()
  assert.deepEqual(
    rows.map(({ depth, workflowId }) => [depth, workflowId === go.id ? 'go' : 'stop']),
    [0, 1, 2, 3, 4, 5, 6].map((depth) => [depth, depth % 2 === 0 ? 'go' : 'stop']),
  )
  assert.deepEqual(countBy(rows, stateOf), { COMPLETED: 6, 'CANCELLED chain too deep': 1 })
  const last = rows.at(-1)
  assert.ok(last?.completedAt !== null && last?.currentStepId === null && last.dueAt === null)
  for (const { id } of [go, stop]) {
    const stats = await viewWorkflowStats(core, { projectId, id })
    assert.equal(stats.executions.chainTooDeep, 0, 'the row says so')
  }
})

test('S34: one row an hour says that chains are cut, the others are counted', async (t) => {
  const { core, projectId, runner, make, addPeople, flow, executions } = await openChains(t)
  const people = await addPeople(3)
  const { id } = await flow('go')
  const cut = async () => {
    for (const person of people) await make('go', person, 6)
    await runner.run()
    const { chainTooDeep } = (await viewWorkflowStats(core, { projectId, id })).executions
    return [(await executions()).map(stateOf).join(', '), chainTooDeep]
  }
  const row = 'CANCELLED chain too deep'
  assert.deepEqual(await cut(), [row, 2])
  core.clock.now += HOUR_MS - 1
  assert.deepEqual(await cut(), [row, 5])
  core.clock.now += 1
  assert.deepEqual(await cut(), [`${row}, ${row}`, 7])
  core.clock.now -= 2 * HOUR_MS
  assert.deepEqual(await cut(), [`${row}, ${row}, ${row}`, 9], 'a clock that goes back')
  const [refused] = core.counters.lines('pillarbox_chain_starts_refused_total')
  assert.equal(refused?.count, 12)
})

test('S34: a chain keeps its depth over restarts, pauses and disabled workflows', async (t) => {
  const { core, runner, track, executions, flow } = await openChains(t)
  await runner.stop()
  const nap: StepSpec = { type: 'DELAY', config: { amount: 1, unit: 'minutes' } }
  const napping = (event: string, action: 'subscribe' | 'unsubscribe') =>
    flow(event, nap, {
      steps: { nap, change: subscribing(action) },
      transitions: [
        ['trigger', 'nap'],
        ['nap', 'change'],
      ],
    })
  await napping('contact.subscribed', 'unsubscribe')
  await napping('contact.unsubscribed', 'subscribe')
  await track('hello')
  await track('hello', { subscribed: false })
  const set = (isEnabled: boolean) =>
    core.store.write((tx) => tx.update(workflows).set({ isEnabled }).run())
  for (let round = 0; round < 20; round += 1) {
    const next = await createRunner(core)
    await next.run().finally(next.stop)
    await set(false)
    core.clock.now += 30_000
    await set(true)
  }
  const depths = (await executions()).map(({ depth, status }) => `${depth} ${status}`)
  const walked = [0, 1, 2, 3, 4, 5].map((depth) => `${depth} COMPLETED`)
  assert.deepEqual(depths, [...walked, '6 CANCELLED'])
})

test('S34: what a client says of a depth is data', async (t) => {
  const { runner, track, flow, executions, eventsAfter } = await openChains(t)
  await flow('go')
  await track('go', { data: { depth: 99 }, depth: 99 })
  await runner.run()
  const [row] = await executions()
  assert.deepEqual([row?.status, row?.depth, row?.context], ['EXITED', 0, { depth: 99 }])
  const [event] = (await eventsAfter(0)).filter(({ name }) => name === 'go')
  assert.equal(event?.depth, null)
})

test('S34: starts by requests, bulk starts and schedules begin a new chain', async (t) => {
  const { core, projectId, addPeople, flow, executions } = await openChains(t)
  const [first = ''] = await addPeople(2)
  const segment = await createSegment(core, {
    ...{ projectId, name: 'All', type: 'DYNAMIC' },
    condition: {
      logic: 'AND',
      groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }],
    },
  })
  const { id } = await flow('never', {
    type: 'DELAY',
    config: { amount: 1, unit: 'days' },
  })
  const key = { projectId, id }
  await startOne(core, { ...key, contactId: first, context: null })
  await startMany(core, { ...key, selection: { segmentId: segment.id }, context: null })
  await runBulkStart(core, await claimJob(core, BULK_START_KIND))
  await core.store.write((tx) =>
    tx
      .update(workflows)
      .set({
        ...{ triggerType: 'SCHEDULE', segmentId: segment.id, nextFireAt: core.now() },
        triggerConfig: { schedule: '0 * * * *', segmentId: segment.id },
      })
      .run(),
  )
  await fireDue(core)
  await runBulkStart(core, await claimJob(core, BULK_START_KIND))
  const rows = await executions()
  assert.deepEqual(
    rows.map(({ depth, status }) => [depth, status]),
    [
      [0, 'RUNNING'],
      [0, 'RUNNING'],
    ],
  )
})

test('S34: a start that was cut holds no later start back', async (t) => {
  const { runner, make, addPeople, flow, executions } = await openChains(t)
  const [ada = ''] = await addPeople(1)
  await flow('go', EXIT, { allowsReentry: false })
  await make('go', ada, 6)
  await runner.run()
  assert.deepEqual((await executions()).map(stateOf), ['CANCELLED chain too deep'])
  await make('go', ada)
  await make('go', ada, 6)
  await make('go', ada)
  await runner.run()
  assert.deepEqual((await executions()).map(stateOf), [
    'CANCELLED chain too deep',
    'EXITED exit_step',
  ])
})
