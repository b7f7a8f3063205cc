import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../../../src/base/errors.ts'
import { updateWorkflow } from '../../../../../src/features/outreach/workflows/definition/edit.ts'
import { validateWorkflow } from '../../../../../src/features/outreach/workflows/definition/validate.ts'
import { createSegment } from '../../../../../src/features/people/segments/edit-segment.ts'
import { newId } from '../../../../../src/store/ids.ts'
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

test('the findings of a refused change are made without suggestions, which take time', async (t) => {
  const stage = await openStage(t, {
    steps: [{ type: 'TRIGGER' }, { type: 'SEND_EMAIL' }],
    ...{ triggerEvent: 'segment.vips.entry', isEnabled: false },
  })
  const { core, key, project } = stage
  await createSegment(core, { projectId: project.id, name: 'VIP', type: 'STATIC' })
  const silentIn = (findings: readonly { code: string; message: string }[]) =>
    findings.flatMap(({ code, message }) => (code === 'segment_unknown' ? [message] : []))
  const [shown = ''] = silentIn((await validateWorkflow(core, key)).findings)
  assert.match(shown, /Did you mean segment\.vip\.entry\?/)
  await assert.rejects(updateWorkflow(core, { ...key, changes: { enabled: true } }), (error) => {
    assert.ok(error instanceof AppError)
    const { findings } = error.details as { findings: { code: string; message: string }[] }
    const hint = ' Did you mean segment.vip.entry?'
    assert.deepEqual(silentIn(findings), [shown.replace(hint, '')])
    return true
  })
})
