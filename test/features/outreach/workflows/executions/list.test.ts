import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewWorkflowStats } from '../../../../../src/features/outreach/workflows/executions/stats.ts'
import {
  addFigures,
  durationBucket,
} from '../../../../../src/features/outreach/workflows/figures.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import type { ExecutionStatus } from '../../../../../src/store/schema/words.ts'
import { workflowSteps, workflowTransitions } from '../../../../../src/store/schema/workflows.ts'
import { addProject } from '../../../../core.ts'
import { listExecutions } from '../../../../lists.ts'
import { addExecution, addWorkflow } from '../add-workflow.ts'
import { openStage, type Stage } from './stage.ts'

const ALL: ExecutionStatus[] = [
  'COMPLETED',
  'RUNNING',
  'FAILED',
  'WAITING',
  'EXITED',
  'CANCELLED',
  'COMPLETED',
]

async function addAll(stage: Stage): Promise<string[]> {
  const { core, key, people, workflow } = stage
  const ids: string[] = []
  for (const [index, status] of ALL.entries()) {
    const { id } = await addExecution(core, {
      ...{ projectId: key.projectId, workflowId: key.id, contactId: people[index] ?? '', status },
      currentStepId: status === 'WAITING' ? (workflow.steps.DELAY ?? null) : null,
    })
    ids.unshift(id)
  }
  return ids
}

test('pages join to the whole list, newest first, and other workflows are not in it', async (t) => {
  const stage = await openStage(t, { people: ALL.length })
  const { core, key, people } = stage
  const other = await addWorkflow(core, { projectId: key.projectId })
  await addExecution(core, {
    ...{ projectId: key.projectId, workflowId: other.id, contactId: people[0] ?? '' },
  })
  const ids = await addAll(stage)
  const seen: string[] = []
  for (const page of [1, 2, 3, 4]) {
    const { executions, total } = await listExecutions(core, { ...key, page, pageSize: 3 })
    assert.equal(total, ALL.length)
    seen.push(...executions.map(({ id }) => id))
  }
  assert.deepEqual(seen, ids)
})

test('a list of one status has its executions only, with contact and current step', async (t) => {
  const stage = await openStage(t, { people: ALL.length })
  const { core, key, people, workflow } = stage
  await addAll(stage)
  for (const status of new Set(ALL)) {
    const { executions, total } = await listExecutions(core, { ...key, status })
    assert.equal(total, ALL.filter((each) => each === status).length)
    assert.deepEqual([...new Set(executions.map((each) => each.status))], [status])
  }
  const { executions } = await listExecutions(core, { ...key, status: 'WAITING' })
  assert.deepEqual(executions[0]?.contact, { id: people[3], email: 'p3@people.test' })
  const delay = { id: workflow.steps.DELAY, name: 'DELAY', type: 'DELAY' }
  assert.deepEqual(executions[0]?.currentStep, delay)
})

test('another project does not see the executions', async (t) => {
  const stage = await openStage(t)
  const other = await addProject(stage.core)
  const key = { ...stage.key, projectId: other.id }
  const isUnknown = { code: 'WORKFLOW_NOT_FOUND', status: 404 }
  await assert.rejects(listExecutions(stage.core, key), isUnknown)
  await assert.rejects(viewWorkflowStats(stage.core, key), isUnknown)
})

test('stats have the figures of steps and transitions, and executions by status', async (t) => {
  const stage = await openStage(t, { people: ALL.length })
  const { core, key, workflow } = stage
  await addAll(stage)
  const { TRIGGER = '', DELAY = '', EXIT = '' } = workflow.steps
  const [transition] = await core.store.read
    .select()
    .from(workflowTransitions)
    .where(eq(workflowTransitions.toStepId, DELAY))
    .all()
  await core.store.write(async (tx) => {
    await addFigures(tx, key.id, [
      [DELAY, 'completed', 5],
      [DELAY, 'failed', 2],
      [DELAY, 'skipped', 1],
      [DELAY, `took ${durationBucket(900)}`, 1],
      [DELAY, `took ${durationBucket(60_000)}`, 3],
      [DELAY, `took ${durationBucket(3_600_000)}`, 1],
      [transition?.id ?? '', 'taken', 8],
      ['', 'heldBack', 4],
      ['', 'tooManyStarts', 3],
    ])
    await tx.update(workflowSteps).set({ removedAt: 1 }).where(eq(workflowSteps.id, EXIT))
  })
  const { steps, transitions, executions } = await viewWorkflowStats(core, key)
  assert.deepEqual(
    steps.map(({ stepId }) => stepId),
    [TRIGGER, DELAY],
  )
  assert.deepEqual(steps[0], {
    ...{ stepId: TRIGGER, name: 'TRIGGER', type: 'TRIGGER', medianMs: null },
    ...{ waiting: 0, completed: 0, failed: 0, skipped: 0 },
  })
  const { medianMs, ...counted } = steps[1] ?? {}
  assert.ok(medianMs && medianMs > 54_000 && medianMs < 66_000, `${medianMs}`)
  assert.deepEqual(counted, {
    ...{ stepId: DELAY, name: 'DELAY', type: 'DELAY' },
    ...{ waiting: 1, completed: 5, failed: 2, skipped: 1 },
  })
  const taken = transitions.find(({ transitionId }) => transitionId === transition?.id)?.taken
  assert.equal(taken, 8)
  assert.deepEqual(executions, {
    ...{ total: 7, running: 1, waiting: 1, completed: 2, exited: 1, failed: 1, cancelled: 1 },
    ...{ heldBack: 4, tooManyStarts: 3, automatic: 0 },
    ...{ chainTooDeep: 0, chainDelayed: 0 },
  })
})
