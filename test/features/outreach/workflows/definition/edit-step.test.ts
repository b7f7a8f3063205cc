import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteStep } from '../../../../../src/features/outreach/workflows/definition/edit-step.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { workflows } from '../../../../../src/store/schema/workflows.ts'
import { executionsOf, openStage } from '../executions/stage.ts'

/** A disabled workflow with executions at its DELAY, which is enabled after as many writes. */
async function openCrowded(
  t: Parameters<typeof openStage>[0],
  { size, enabledAfter }: { size: number; enabledAfter: number },
) {
  const stage = await openStage(t, { people: size, isEnabled: false })
  const { core, key, people, workflow } = stage
  await core.store.write((tx) =>
    tx.run(sql`insert into workflow_executions (id, project_id, workflow_id, contact_id, status,
        current_step_id, started_at, updated_at)
      select 'x' || key, ${key.projectId}, ${key.id}, value, 'WAITING',
        ${workflow.steps.DELAY}, 1, 1
      from json_each(${JSON.stringify(people)})`),
  )
  let writes = 0
  const write: typeof core.store.write = async (...given) => {
    writes += 1
    try {
      return await core.store.write(...given)
    } finally {
      if (writes === enabledAfter) {
        await core.store.write((tx) =>
          tx.update(workflows).set({ isEnabled: true, version: 2 }).where(eq(workflows.id, key.id)),
        )
      }
    }
  }
  const deps = { ...core, store: { ...core.store, write } }
  const remove = () =>
    deleteStep(deps, { ...key, stepId: workflow.steps.DELAY ?? '', splice: false })
  const countCancelled = async () =>
    (await executionsOf(stage)).filter(({ status }) => status === 'CANCELLED').length
  return { remove, countCancelled }
}

test('an edit that is refused after executions were cancelled for it says how many', async (t) => {
  const stage = await openCrowded(t, { size: 1_200, enabledAfter: 2 })
  await assert.rejects(stage.remove(), {
    code: 'CONFLICT',
    status: 409,
    message: /\. 500 executions at the steps to remove were cancelled before\.$/,
    suggestion: /Disable the workflow/,
  })
  assert.equal(await stage.countCancelled(), 500)
})

test('nothing is cancelled for an edit once the workflow has another version', async (t) => {
  const stage = await openCrowded(t, { size: 501, enabledAfter: 1 })
  await assert.rejects(stage.remove(), (error: Error) => !/were cancelled/.test(error.message))
  assert.equal(await stage.countCancelled(), 0)
})
