import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateWorkflow } from '../../../../../src/features/outreach/workflows/definition/edit.ts'
import { applyEvents } from '../../../../../src/features/outreach/workflows/engine/follow-events.ts'
import { recordEventByAddress } from '../../../../../src/features/people/contacts/events/contact-events.ts'
import { asc } from '../../../../../src/store/drizzle.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { workflowExecutions } from '../../../../../src/store/schema/workflows.ts'
import { addProject, address, openTestCore } from '../../../../core.ts'
import { createRunner } from './run-due.ts'
import { buildWorkflow } from './workflow-rows.ts'

const NAP = {
  steps: { nap: { type: 'DELAY', config: { amount: 1, unit: 'days' } } },
  transitions: [['trigger', 'nap']],
} as const

test('events that start many workflows are handled in several transactions, and each starts all', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  for (let number = 0; number < 60; number += 1) {
    await buildWorkflow(core, { projectId, ...NAP })
  }
  const runner = await createRunner(core)
  t.after(runner.stop)
  await runner.stop()
  for (let number = 0; number < 5; number += 1) {
    const request = { event: 'signup', address: address(`p${number}@example.net`) }
    await recordEventByAddress(core, { projectId, request })
  }
  const rows = await core.store.read.select().from(events).orderBy(asc(events.seq))
  let last = 0
  await core.store.write((tx) =>
    applyEvents(core, tx, {
      rows,
      endAt: (row) => {
        last = row.seq
      },
    }),
  )
  assert.equal(last, rows[2]?.seq, 'three events of sixty starts each')
  assert.equal(await core.store.read.$count(workflowExecutions), 180)
  const later = await createRunner(core)
  t.after(later.stop)
  await later.run()
  assert.equal(await core.store.read.$count(workflowExecutions), 300)
})

test('at most 100 enabled workflows of a project start with the same event', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  for (let number = 0; number < 100; number += 1) {
    await buildWorkflow(core, { projectId, ...NAP })
  }
  const { id } = await buildWorkflow(core, { projectId, ...NAP, isEnabled: false })
  const { id: other } = await buildWorkflow(core, {
    ...{ projectId, ...NAP, event: 'other' },
    isEnabled: false,
  })
  const enable = (workflowId: string) =>
    updateWorkflow(core, { projectId, id: workflowId, changes: { enabled: true } })
  await assert.rejects(enable(id), { code: 'BAD_REQUEST', message: /At most 100/ })
  assert.equal((await enable(other)).enabled, true)
})
