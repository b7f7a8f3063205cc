import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../../src/base/clock.ts'
import {
  BULK_START_KIND,
  runBulkStart,
} from '../../../../../src/features/outreach/workflows/executions/bulk.ts'
import {
  fireDue,
  startSchedules,
} from '../../../../../src/features/outreach/workflows/schedule/loop.ts'
import { createSegment } from '../../../../../src/features/people/segments/edit-segment.ts'
import { updateProject } from '../../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { jobs } from '../../../../../src/store/schema/jobs.ts'
import { workflows } from '../../../../../src/store/schema/workflows.ts'
import { claimJob } from '../../../../work/jobs/running.ts'
import { executionsOf, openStage, type Stage, workflowOf } from '../executions/stage.ts'

/** It fires each hour, the first time now. */
async function openSchedule(t: Parameters<typeof openStage>[0], fields = {}): Promise<Stage> {
  const stage = await openStage(t, { people: 3, triggerType: 'SCHEDULE', allowsReentry: true })
  const { core, key } = stage
  const segment = await createSegment(core, {
    ...{ projectId: key.projectId, name: 'All', type: 'DYNAMIC' },
    condition: {
      ...{ logic: 'AND' as const },
      groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }],
    },
  })
  const triggerConfig = { schedule: '0 * * * *', segmentId: segment.id }
  await change(stage, {
    ...{ triggerConfig, segmentId: segment.id, nextFireAt: core.now() },
    ...fields,
  })
  return stage
}

const change = ({ core, key }: Stage, fields: Partial<typeof workflows.$inferInsert>) =>
  core.store.write(
    async (tx) => void (await tx.update(workflows).set(fields).where(eq(workflows.id, key.id))),
  )

const jobsOf = ({ core }: Stage) =>
  core.store.read.select().from(jobs).where(eq(jobs.kind, BULK_START_KIND)).all()

const finishJobs = ({ core }: Stage) =>
  core.store.write(async (tx) => void (await tx.update(jobs).set({ state: 'completed' })))

const nextOf = async (stage: Stage) => (await workflowOf(stage))?.nextFireAt

test('a firing starts the members once, and the workflow moves on', async (t) => {
  const stage = await openSchedule(t)
  const { core } = stage
  const firedAt = core.now()
  assert.equal(await fireDue(core), HOUR_MS)
  assert.equal(await nextOf(stage), firedAt + HOUR_MS)
  assert.equal(await fireDue(core), HOUR_MS)
  assert.equal((await jobsOf(stage)).length, 1)
  const result = await runBulkStart(core, await claimJob(core, BULK_START_KIND))
  assert.equal(result.startedCount, 3)
  assert.equal((await executionsOf(stage)).length, 3)
})

test('after a downtime only the last missed firing happens', async (t) => {
  const stage = await openSchedule(t)
  const { core } = stage
  const firstAt = core.now()
  core.clock.now += 5 * HOUR_MS + 10 * MINUTE_MS
  await fireDue(core)
  await fireDue(core)
  assert.equal((await jobsOf(stage)).length, 1)
  assert.equal(await nextOf(stage), firstAt + 6 * HOUR_MS)
})

test('a firing waits for the job of the firing before', async (t) => {
  const stage = await openSchedule(t)
  const { core } = stage
  await fireDue(core)
  core.clock.now += HOUR_MS
  const dueAt = core.now()
  assert.equal(await fireDue(core), 1_000)
  assert.equal((await jobsOf(stage)).length, 1)
  assert.equal(await nextOf(stage), dueAt)
  await finishJobs(stage)
  await fireDue(core)
  assert.equal((await jobsOf(stage)).length, 2)
  assert.equal(await nextOf(stage), dueAt + HOUR_MS)
})

test('F3: a clock that steps forward and back fires no nominal time twice', async (t) => {
  const stage = await openSchedule(t)
  const { core } = stage
  const firstAt = core.now()
  core.clock.now += DAY_MS
  await fireDue(core)
  await finishJobs(stage)
  core.clock.now = firstAt
  assert.equal(await fireDue(core), DAY_MS + HOUR_MS)
  assert.equal((await jobsOf(stage)).length, 1)
})

test('without its segment, or in a disabled project, a firing is skipped', async (t) => {
  const stage = await openSchedule(t)
  const { core, project } = stage
  const firstAt = core.now()
  const { segmentId } = (await workflowOf(stage)) ?? {}
  await change(stage, { segmentId: newId() })
  await fireDue(core)
  assert.equal(await nextOf(stage), firstAt + HOUR_MS)
  await change(stage, { segmentId })
  await updateProject(core, project.id, { disable: 'MANUAL' })
  core.clock.now += HOUR_MS
  await fireDue(core)
  assert.equal(await nextOf(stage), firstAt + 2 * HOUR_MS)
  assert.deepEqual(await jobsOf(stage), [])
})

test('a disabled workflow and a schedule that cannot be read fire no more', async (t) => {
  const stage = await openSchedule(t)
  const { core } = stage
  await change(stage, { isEnabled: false })
  assert.equal(await fireDue(core), undefined)
  assert.deepEqual([await nextOf(stage), (await jobsOf(stage)).length], [null, 0])
  const triggerConfig = { schedule: 'never', timezone: 'Mars/Base' }
  await change(stage, { isEnabled: true, triggerConfig, nextFireAt: core.now() })
  await fireDue(core)
  assert.equal(await nextOf(stage), null)
})

test('the loop fires what is due, and again when a schedule changes', async (t) => {
  const stage = await openSchedule(t, { nextFireAt: null })
  const { core } = stage
  const loop = startSchedules(core)
  const woken = Promise.withResolvers<void>()
  core.jobNotifier.listen(() => woken.resolve())
  await change(stage, { nextFireAt: core.now() })
  core.workflowNotifier.notify({ kind: 'schedule' })
  await woken.promise
  await loop.stop()
  assert.equal((await jobsOf(stage)).length, 1)
})
