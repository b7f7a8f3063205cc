import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  hasActive,
  listActiveAt,
} from '../../../../../src/features/outreach/workflows/definition/active.ts'
import {
  ERASED_PARTS,
  listDeleted,
} from '../../../../../src/features/outreach/workflows/definition/delete.ts'
import { StoreDb } from '../../../../../src/store/database.ts'
import { sql } from '../../../../../src/store/drizzle.ts'
import { openTestCore } from '../../../../core.ts'

test('whether executions are active is read from ranges of indexes', async (t) => {
  const core = await openTestCore(t)
  const texts: string[] = []
  const recorder = new StoreDb((text, _, shape) => {
    texts.push(text)
    return shape === 'row' || shape === 'record' ? undefined : []
  })
  const workflow = { id: 'w', cancelledThrough: 5 }
  await hasActive(recorder, workflow)
  await listActiveAt(recorder, workflow, { stepIds: ['a', 'b'], limit: 1 })
  assert.equal(texts.length, 2)
  const plans = texts.map(async (text) => {
    const rows = await core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', '1')}`),
    )
    return rows.map(({ detail }) => detail).filter((detail) => /workflow_executions/.test(detail))
  })
  const [active = [], standing = []] = await Promise.all(plans)
  assert.equal(active.length, 2)
  for (const detail of active) {
    assert.match(detail, /workflow_executions_status \(workflow_id=\? AND status=\? AND rowid>\?\)/)
  }
  assert.equal(standing.length, 1)
  assert.match(
    standing[0] ?? '',
    /workflow_executions_place \(workflow_id=\? AND current_step_id=\?/,
  )
})

test('what is left of deleted workflows is found by indexes', async (t) => {
  const core = await openTestCore(t)
  const texts = [listDeleted, ...ERASED_PARTS].map((each) => each.compiled().text)
  const plans = texts.map(async (text) => {
    const plan = await core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', '1')}`),
    )
    return plan.map(({ detail }) => detail).join('\n')
  })
  const [deleted = '', ...parts] = await Promise.all(plans)
  assert.match(deleted, /INDEX workflows_deleted \(project_id=\?\)/)
  const keys = [/workflow_steps_workflow \(w/, /workflow_figures USING .*\(w/, /_status \(w/]
  for (const [index, plan] of parts.entries()) {
    assert.match(plan, keys[index] ?? /^$/)
    assert.doesNotMatch(plan, /SCAN workflow/, plan)
  }
})
