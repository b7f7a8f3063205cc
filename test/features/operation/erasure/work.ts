/** The background jobs of tests of resets, which run without followers of events. */
import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSchedule } from '../../../../src/core/areas.ts'
import { inArray, sql } from '../../../../src/store/drizzle.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import { startJobs } from '../../../../src/work/jobs/jobs.ts'
import type { TestCore } from '../../../core.ts'
import { PATIENCE_MS } from '../../../patience.ts'

/** As if the followers for which an erasure waits had handled all events. */
export async function passFollowers({ store }: TestCore): Promise<void> {
  await store.write((tx) =>
    tx.run(sql`update event_followers
      set seq = max((select seq from sqlite_sequence where name = 'events'),
        (select ifnull(max(seq), 0) from deleted_events))
      where name <> 'analytics' and exists (select 1 from sqlite_sequence where name = 'events')`),
  )
}

const POLL_MS = 10

/**
 * Runs background jobs until none is left. Followers handle what happens meanwhile. Batches take no time by
 * a clock that stands still, so that no job rests between them.
 */
export async function work(core: TestCore): Promise<void> {
  await passFollowers(core)
  const { handlers, limits } = createSchedule(core)
  const { store, log, now } = core
  const isLeft = inArray(jobs.state, ['waiting', 'active'])
  const stopped = mock.method(performance, 'now', () => 0)
  try {
    const loop = startJobs({ store, log, now, handlers, limits })
    const startedAt = Date.now()
    while ((await store.read.$count(jobs, isLeft)) > 0) {
      assert.ok(Date.now() - startedAt < PATIENCE_MS, 'the jobs do not end')
      await sleep(POLL_MS)
      await passFollowers(core)
    }
    await loop.stop(1_000)
  } finally {
    stopped.mock.restore()
  }
}
