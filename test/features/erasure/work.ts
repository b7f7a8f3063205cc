/** Runs background jobs until none is left. */
import { createSchedule } from '../../../src/features/schedule.ts'
import { startJobs } from '../../../src/jobs/jobs.ts'
import { inArray } from '../../../src/store/drizzle.ts'
import { jobs } from '../../../src/store/schema/jobs.ts'
import type { TestCore } from '../../core.ts'

export async function work(core: TestCore): Promise<void> {
  const { handlers, limits } = createSchedule(core)
  const { store, log, now } = core
  const loop = startJobs({ store, log, now, handlers, limits })
  const isLeft = inArray(jobs.state, ['waiting', 'active'])
  while ((await store.read.$count(jobs, isLeft)) > 0) await new Promise(setImmediate)
  await loop.stop(1_000)
}
