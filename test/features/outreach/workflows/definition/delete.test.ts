import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findReferences } from '../../../../../src/features/ground/references/registry.ts'
import {
  bulkUpdateWorkflows,
  deleteWorkflow,
  deleteWorkflowRows,
  ERASE_KIND,
} from '../../../../../src/features/outreach/workflows/definition/delete.ts'
import { findLiveError } from '../../../../../src/features/outreach/workflows/definition/validate.ts'
import { retryExecution } from '../../../../../src/features/outreach/workflows/executions/start.ts'
import { startOne } from '../../../../../src/features/outreach/workflows/executions/start-executions.ts'
import { newId } from '../../../../../src/store/ids.ts'
import {
  workflowExecutions,
  workflowFigures,
  workflowStepExecutions,
  workflowSteps,
  workflows,
  workflowTransitions,
} from '../../../../../src/store/schema/workflows.ts'
import { listWorkflows } from '../../../../lists.ts'
import { claimJob } from '../../../../work/jobs/running.ts'
import { addExecution, addWorkflow } from '../add-workflow.ts'
import { openStage, type Stage, workflowOf } from '../executions/stage.ts'

const TABLES = {
  workflows,
  workflowSteps,
  workflowTransitions,
  workflowFigures,
  workflowExecutions,
  workflowStepExecutions,
}

async function countRows({ core }: Stage) {
  const counts = Object.entries(TABLES).map(
    async ([name, table]) => [name, await core.store.read.$count(table)] as const,
  )
  return Object.fromEntries(await Promise.all(counts))
}

/** An execution that ended after as many steps. */
async function addEnded({ core, key, workflow, people }: Stage, index: number, steps = 2) {
  const { TRIGGER = '' } = workflow.steps
  return addExecution(core, {
    ...{ projectId: key.projectId, workflowId: key.id, contactId: people[index] ?? '' },
    ...{ status: 'FAILED', currentStepId: TRIGGER, completedAt: core.now(), stepsDone: steps - 1 },
    steps: Array.from({ length: steps }, () => ({ stepId: TRIGGER, status: 'FAILED' })),
  })
}

async function erase({ core }: Stage): Promise<void> {
  const job = await claimJob(core, ERASE_KIND)
  await deleteWorkflowRows(core, job)
}

test('a deleted workflow is gone at once, and its rows a little later', async (t) => {
  const stage = await openStage(t, { people: 2, triggerEvent: 'order', triggerType: 'EVENT' })
  const { core, key, people, workflow } = stage
  const { id: executionId } = await addEnded(stage, 0)
  await core.store.write((tx) =>
    tx.insert(workflowFigures).values({
      ...{ workflowId: key.id, subject: '', figure: 'heldBack', count: 1 },
    }),
  )
  const kept = await addWorkflow(core, { projectId: key.projectId, name: 'Kept' })
  await deleteWorkflow(core, key)
  const gone = { code: 'WORKFLOW_NOT_FOUND' }
  await assert.rejects(deleteWorkflow(core, key), gone)
  await assert.rejects(retryExecution(core, { ...key, executionId }), gone)
  const contactId = people[1] ?? ''
  await assert.rejects(startOne(core, { ...key, contactId, context: null }), gone)
  const { items, total } = await listWorkflows(core, { projectId: key.projectId })
  assert.deepEqual([items.map(({ id }) => id), total], [[kept.id], 1])
  const referent = { kind: 'event', name: 'order' } as const
  const users = await findReferences(core, core.store.read, { projectId: key.projectId, referent })
  assert.deepEqual(users.workflows, [])
  // The ids of its steps may be used again.
  await addWorkflow(core, {
    projectId: key.projectId,
    steps: [{ type: 'TRIGGER', id: workflow.steps.TRIGGER ?? '' }],
  })
  await erase(stage)
  assert.deepEqual(await countRows(stage), {
    ...{ workflows: 2, workflowSteps: 2, workflowTransitions: 0 },
    ...{ workflowFigures: 0, workflowExecutions: 0, workflowStepExecutions: 0 },
  })
})

test('a workflow that was deleted since an edit of it has no error in force', async (t) => {
  const { core, key: others } = await openStage(t)
  const { projectId } = others
  const steps = [{ type: 'TRIGGER' }, { type: 'SEND_EMAIL' }] as const
  const { id } = await addWorkflow(core, { projectId, steps })
  const key = { projectId, id }
  assert.equal((await findLiveError(core, key))?.code, 'no_template')
  await deleteWorkflow(core, key)
  assert.equal(await findLiveError(core, key), undefined)
})

test('a refused deletion of several workflows changes none of them', async (t) => {
  const stage = await openStage(t, { people: 211 })
  const { core, key, people } = stage
  for (let index = 0; index < 210; index += 1) await addEnded(stage, index)
  const busy = await addWorkflow(core, { projectId: key.projectId })
  await addExecution(core, {
    ...{ projectId: key.projectId, workflowId: busy.id, contactId: people[210] ?? '' },
  })
  const before = [await countRows(stage), await workflowOf(stage)]
  const chosen = { projectId: key.projectId, ids: [key.id, busy.id], delete: true }
  await assert.rejects(bulkUpdateWorkflows(core, chosen), { code: 'CONFLICT' })
  const unknown = { ...chosen, ids: [key.id, newId()] }
  await assert.rejects(bulkUpdateWorkflows(core, unknown), { code: 'WORKFLOW_NOT_FOUND' })
  assert.deepEqual([await countRows(stage), await workflowOf(stage)], before)
})

test('a long history is deleted in transactions that are short for their rows of steps too', async (t) => {
  const stage = await openStage(t, { people: 30 })
  const { core, key } = stage
  for (let index = 0; index < 30; index += 1) await addEnded(stage, index, 100)
  await deleteWorkflow(core, key)
  const left: number[] = []
  const write: typeof core.store.write = async (...given) => {
    const result = await core.store.write(...given)
    left.push(await core.store.read.$count(workflowStepExecutions))
    return result
  }
  const { signal } = new AbortController()
  const deps = { ...core, store: { ...core.store, write } }
  await deleteWorkflowRows(deps, { projectId: key.projectId, signal })
  const most = Math.max(...left.map((count, index) => (left[index - 1] ?? 3_000) - count))
  assert.ok(most <= 2_100, `${left}`)
  assert.ok(left.filter((count) => count > 0).length >= 2, `${left}`)
  assert.deepEqual((await countRows(stage)).workflows, 0)
})

test('an interrupted deletion goes on, and touches nothing but deleted workflows', async (t) => {
  const stage = await openStage(t, { people: 3 })
  const { core, key } = stage
  await addEnded(stage, 0)
  const { signal } = new AbortController()
  await deleteWorkflowRows(core, { projectId: key.projectId, signal })
  assert.equal((await countRows(stage)).workflowExecutions, 1)
  await deleteWorkflow(core, key)
  const stopped = { projectId: key.projectId, signal: AbortSignal.abort() }
  await assert.rejects(deleteWorkflowRows(core, stopped), { name: 'AbortError' })
  assert.equal((await countRows(stage)).workflowExecutions, 1)
  await deleteWorkflowRows(core, { projectId: key.projectId, signal })
  assert.deepEqual(Object.values(await countRows(stage)), [0, 0, 0, 0, 0, 0])
})
