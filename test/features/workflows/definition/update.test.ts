import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateWorkflow } from '../../../../src/features/workflows/definition/update.ts'
import { newId } from '../../../../src/store/ids.ts'
import { openStage, workflowOf } from '../executions/stage.ts'

test('a schedule that never fires is refused before a transaction begins', async (t) => {
  const stage = await openStage(t)
  const { core, key } = stage
  let writes = 0
  const write: typeof core.store.write = (...given) => {
    writes += 1
    return core.store.write(...given)
  }
  const deps = { ...core, store: { ...core.store, write } }
  const triggerConfig = { schedule: '0 0 30 2 *', segmentId: newId() }
  const changes = { triggerType: 'SCHEDULE' as const, triggerConfig }
  await assert.rejects(updateWorkflow(deps, { ...key, changes }), {
    code: 'VALIDATION_ERROR',
    fields: [{ field: 'triggerConfig.schedule', code: 'custom', message: 'Would never fire' }],
  })
  assert.equal(writes, 0)
  await updateWorkflow(deps, { ...key, changes: { name: 'Renamed' } })
  assert.equal(writes, 1)
  assert.equal((await workflowOf(stage))?.name, 'Renamed')
})
