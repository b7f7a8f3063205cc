import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSchedule } from '../../../../src/core/schedule.ts'
import { JOB_FATES } from '../../../../src/features/ground/fence/job-fates.ts'
import { openTestCore } from '../../../core.ts'

test('F7: each kind of job has a decided fate, and no other kind has one', async (t) => {
  const core = await openTestCore(t)
  const { handlers, cron } = createSchedule(core)
  assert.deepEqual(Object.keys(JOB_FATES).sort(), Object.keys(handlers).sort())
  // A tick makes a new job, so what the clock starts is never held as a job.
  for (const { kind } of cron) assert.equal(JOB_FATES[kind], 'runs', kind)
})
