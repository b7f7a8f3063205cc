import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cancelExecution } from '../../../../../src/features/outreach/workflows/executions/cancel-active.ts'
import {
  CANCELLED_AT_ONCE,
  cancelAllExecutions,
  settleCancelled,
  startSettlingCancelled,
} from '../../../../../src/features/outreach/workflows/executions/cancel-all.ts'
import { retryExecution } from '../../../../../src/features/outreach/workflows/executions/start.ts'
import { viewWorkflowStats } from '../../../../../src/features/outreach/workflows/executions/stats.ts'
import { updateProject } from '../../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import type { ExecutionStatus } from '../../../../../src/store/schema/words.ts'
import {
  workflowExecutions,
  workflowRequests,
  workflowStepExecutions,
  workflowSteps,
  workflowWaits,
} from '../../../../../src/store/schema/workflows.ts'
import { listExecutions, viewExecution } from '../../../../lists.ts'
import { addExecution, type NewExecution } from '../add-workflow.ts'
import { executionsOf, figuresOf, openStage, type Stage, workflowOf } from './stage.ts'

const CUT_REASON = 'all executions cancelled by user'

function add(stage: Stage, index: number, fields: Partial<NewExecution> = {}) {
  const { core, key, people } = stage
  return addExecution(core, {
    ...{ projectId: key.projectId, workflowId: key.id, contactId: people[index] ?? '' },
    ...fields,
  })
}

/** It stands at the DELAY. */
function addWaiting(stage: Stage, index: number) {
  const { TRIGGER = '', DELAY = '' } = stage.workflow.steps
  return add(stage, index, {
    ...{ status: 'WAITING', currentStepId: DELAY, stepsDone: 1, dueAt: stage.core.now() + 60_000 },
    steps: [{ stepId: TRIGGER }, { stepId: DELAY, status: 'WAITING' }],
  })
}

function addFailed(stage: Stage, index: number, fields: Partial<NewExecution> = {}) {
  const { TRIGGER = '', DELAY = '' } = stage.workflow.steps
  return add(stage, index, {
    ...{ status: 'FAILED', currentStepId: DELAY, stepsDone: 1, completedAt: stage.core.now() },
    steps: [{ stepId: TRIGGER }, { stepId: DELAY, status: 'FAILED', error: 'broken' }],
    ...fields,
  })
}

const statusesOf = async (stage: Stage) => (await executionsOf(stage)).map(({ status }) => status)

const shownOf = async ({ core, key }: Stage, status?: ExecutionStatus) => {
  const { executions, total } = await listExecutions(core, { ...key, status })
  assert.equal(executions.length, total)
  return executions.map((each) => [each.id, each.status])
}

test('a cancelled execution ends with its step and what it waits for', async (t) => {
  const stage = await openStage(t, { people: 2 })
  const { core, key, workflow } = stage
  const { id, number } = await addWaiting(stage, 0)
  const other = await addWaiting(stage, 1)
  await core.store.write(async (tx) => {
    for (const each of [number, other.number]) {
      const { id: workflowId, projectId } = key
      const wait = { executionNumber: each, workflowId, contactId: 'c', eventName: 'e' }
      await tx.insert(workflowWaits).values({ ...wait, afterSeq: 0 })
      const request = { executionNumber: each, workflowId, projectId, stepId: 's' }
      await tx
        .insert(workflowRequests)
        .values({ ...request, stepExecutionId: 'x', ordinal: 1, dueAt: 1 })
    }
  })
  core.clock.now += 1_000
  const view = await cancelExecution(core, { ...key, executionId: id })
  assert.deepEqual(
    [view.status, view.exitReason, view.currentStep, view.completedAt !== null],
    ['CANCELLED', 'cancelled by user', null, true],
  )
  assert.deepEqual(await figuresOf(stage), { [`${workflow.steps.DELAY} skipped`]: 1 })
  const { stepExecutions } = await viewExecution(core, { ...key, executionId: id })
  assert.deepEqual(
    stepExecutions.map(({ status, step }) => [status, step?.type]),
    [
      ['COMPLETED', 'TRIGGER'],
      ['SKIPPED', 'DELAY'],
    ],
  )
  // The other one still waits.
  assert.deepEqual(await statusesOf(stage), ['CANCELLED', 'WAITING'])
  for (const table of [workflowWaits, workflowRequests]) {
    const left = await core.store.read.select().from(table).all()
    assert.deepEqual(
      left.map(({ executionNumber }) => executionNumber),
      [other.number],
    )
  }
})

test('an execution that has ended stays as it is when it is cancelled', async (t) => {
  const stage = await openStage(t)
  const { core, key } = stage
  const { id } = await add(stage, 0, { status: 'EXITED', exitReason: 'done', completedAt: 5 })
  const before = await executionsOf(stage)
  const view = await cancelExecution(core, { ...key, executionId: id })
  assert.deepEqual([view.status, view.exitReason], ['EXITED', 'done'])
  assert.deepEqual(await executionsOf(stage), before)
})

test('all active executions are shown as cancelled at once, and later written so', async (t) => {
  const stage = await openStage(t, { people: 5 })
  const { core, key, workflow } = stage
  const done = await add(stage, 0, { status: 'COMPLETED', completedAt: core.now() })
  const running = await add(stage, 1, { currentStepId: workflow.steps.TRIGGER, dueAt: 1 })
  const waiting = await addWaiting(stage, 2)
  core.clock.now += 1_000
  assert.equal(await cancelAllExecutions(core, key), 2)
  assert.equal(await cancelAllExecutions(core, key), 0)
  const later = await addWaiting(stage, 3)
  assert.deepEqual(await statusesOf(stage), ['COMPLETED', 'RUNNING', 'WAITING', 'WAITING'])

  const check = async () => {
    assert.deepEqual(await shownOf(stage), [
      [later.id, 'WAITING'],
      [waiting.id, 'CANCELLED'],
      [running.id, 'CANCELLED'],
      [done.id, 'COMPLETED'],
    ])
    assert.deepEqual(await shownOf(stage, 'WAITING'), [[later.id, 'WAITING']])
    assert.deepEqual(await shownOf(stage, 'RUNNING'), [])
    assert.deepEqual(await shownOf(stage, 'CANCELLED'), [
      [waiting.id, 'CANCELLED'],
      [running.id, 'CANCELLED'],
    ])
    const stats = await viewWorkflowStats(core, key)
    const { total, cancelled, waiting: waits, running: runs, completed } = stats.executions
    assert.deepEqual([total, cancelled, waits, runs, completed], [4, 2, 1, 0, 1])
    const delay = stats.steps.find(({ type }) => type === 'DELAY')
    assert.equal(delay?.waiting, 1)
    return viewExecution(core, { ...key, executionId: waiting.id })
  }
  const before = await check()
  assert.equal(before.exitReason, CUT_REASON)
  assert.equal(before.stepExecutions[1]?.status, 'SKIPPED')

  core.clock.now += 60_000
  await settleCancelled(core)
  assert.deepEqual(await check(), before)
  assert.deepEqual(await statusesOf(stage), ['COMPLETED', 'CANCELLED', 'CANCELLED', 'WAITING'])
  const row = await workflowOf(stage)
  assert.deepEqual([row?.isCancelling, row?.cancelledThrough], [false, 0])
  assert.deepEqual(await figuresOf(stage), { [`${workflow.steps.DELAY} skipped`]: 1 })
})

test('many executions are cancelled in several transactions, and the count is exact', async (t) => {
  const size = CANCELLED_AT_ONCE + 1_000
  const stage = await openStage(t, { people: size + 2 })
  const { core, key, people } = stage
  await core.store.write((tx) =>
    tx.run(sql`insert into workflow_executions
        (id, project_id, workflow_id, contact_id, status, started_at, updated_at)
      select 'x' || key, ${key.projectId}, ${key.id}, value,
        case key when 0 then 'RUNNING' else 'WAITING' end, 1, 1
      from json_each(${JSON.stringify(people.slice(0, size))})`),
  )
  const cut = async () => (await workflowOf(stage))?.cancelledThrough
  const cuts: (number | undefined)[] = []
  const write: typeof core.store.write = async (...given) => {
    const result = await core.store.write(...given)
    cuts.push(await cut())
    // Two begin and one ends between the transactions.
    if (cuts.length === 1) {
      await addWaiting(stage, size)
      await addWaiting(stage, size + 1)
      await cancelExecution(core, { ...key, executionId: `x${size - 1}` })
    }
    return result
  }
  const deps = { ...core, store: { ...core.store, write } }
  assert.equal(await cancelAllExecutions(deps, key), size + 1)
  assert.deepEqual(cuts, [CANCELLED_AT_ONCE, size + 2])
  assert.equal(await cancelAllExecutions(core, key), 0)
})

test('the loop writes what was cancelled, also what was before it began', async (t) => {
  const stage = await openStage(t, { people: 2 })
  const { core, key } = stage
  await addWaiting(stage, 0)
  await cancelAllExecutions(core, key)
  const settled = async () => {
    while ((await workflowOf(stage))?.isCancelling) await new Promise(setImmediate)
  }
  const loop = startSettlingCancelled(core)
  await settled()
  await addWaiting(stage, 1)
  await cancelAllExecutions(core, key)
  await settled()
  await loop.stop()
  assert.deepEqual(await statusesOf(stage), ['CANCELLED', 'CANCELLED'])
})

test('executions are cancelled when their project is disabled, and not before', async (t) => {
  const stage = await openStage(t, { people: 1 })
  const { core, project } = stage
  await addWaiting(stage, 0)
  await settleCancelled(core)
  assert.deepEqual(await statusesOf(stage), ['WAITING'])
  await updateProject(core, project.id, { disable: 'MANUAL' })
  await settleCancelled(core)
  const [row] = await executionsOf(stage)
  assert.deepEqual([row?.status, row?.exitReason], ['CANCELLED', 'Project disabled'])
})

test('a failed execution goes on from its failed step', async (t) => {
  const stage = await openStage(t)
  const { core, key, workflow } = stage
  const { id, number } = await addFailed(stage, 0)
  const { DELAY = '' } = workflow.steps
  core.clock.now += 1_000
  const view = await retryExecution(core, { ...key, executionId: id })
  assert.deepEqual([view.status, view.completedAt, view.currentStepId], ['RUNNING', null, DELAY])
  const [row] = await executionsOf(stage)
  assert.deepEqual([row?.dueAt, row?.stepsDone], [0, 1])
  const steps = await core.store.read
    .select()
    .from(workflowStepExecutions)
    .where(eq(workflowStepExecutions.executionNumber, number))
    .all()
  assert.deepEqual(
    steps.map(({ ordinal, status }) => [ordinal, status]),
    [
      [0, 'COMPLETED'],
      [1, 'PENDING'],
    ],
  )
  assert.deepEqual(await figuresOf(stage), { [`${DELAY} failed`]: -1 })
  await assert.rejects(retryExecution(core, { ...key, executionId: id }), { code: 'CONFLICT' })
})

test('a retry is refused where the contact is active, the step removed, or all is being cancelled', async (t) => {
  const stage = await openStage(t, { people: 2 })
  const { core, key, workflow } = stage
  const retry = (executionId: string) => retryExecution(core, { ...key, executionId })
  const first = await addFailed(stage, 0)
  const active = await addWaiting(stage, 0)
  await assert.rejects(retry(first.id), { code: 'CONFLICT', message: /another active/ })
  await assert.rejects(retry(active.id), { code: 'CONFLICT', message: /that is WAITING/ })

  await cancelAllExecutions(core, key)
  await assert.rejects(retry(first.id), { code: 'CONFLICT', message: /being cancelled/ })
  await settleCancelled(core)
  assert.equal((await retry(first.id)).status, 'RUNNING')
  assert.deepEqual(await statusesOf(stage), ['RUNNING', 'CANCELLED'])

  const second = await addFailed(stage, 1)
  await core.store.write(async (tx) => {
    await tx
      .update(workflowSteps)
      .set({ removedAt: 1 })
      .where(eq(workflowSteps.id, workflow.steps.DELAY ?? ''))
  })
  await assert.rejects(retry(second.id), { code: 'CONFLICT', message: /removed/ })
  const left = await core.store.read
    .select()
    .from(workflowExecutions)
    .where(eq(workflowExecutions.id, second.id))
    .get()
  assert.equal(left?.status, 'FAILED')
})

test('a removed step is still named in the history', async (t) => {
  const stage = await openStage(t)
  const { core, key } = stage
  const { id } = await addFailed(stage, 0)
  await core.store.write(async (tx) => void (await tx.update(workflowSteps).set({ removedAt: 1 })))
  const view = await viewExecution(core, { ...key, executionId: id })
  assert.deepEqual(
    view.stepExecutions.map(({ step }) => step?.name),
    ['TRIGGER', 'DELAY'],
  )
  assert.equal(view.stepExecutions[1]?.error, 'broken')
})
