/** A database with a clock that the test moves, and job loops on it that end with the test. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Now } from '../../../src/base/clock.ts'
import { silentLog } from '../../../src/base/log.ts'
import type { Job } from '../../../src/store/schema/jobs.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { enqueueJob, type NewJob } from '../../../src/work/jobs/enqueue.ts'
import { type JobsOptions, startJobs } from '../../../src/work/jobs/jobs.ts'
import { START } from '../../core.ts'
import { copyDatabase } from '../../database-template.ts'
import { makeDatabaseFolder } from '../../store/test-store.ts'
import { findJob } from './running.ts'

export type TestJobs = {
  store: Store
  clock: { at: number }
  now: Now
  /** Starts a job loop. */
  run(options: Partial<JobsOptions>): ReturnType<typeof startJobs>
  /** Enqueues a job, and returns its id. */
  add(job?: Partial<NewJob>): Promise<string>
  find(id: string): Promise<Job>
  /** Resolves when the job is in that state. */
  reaches(id: string, state: Job['state']): Promise<Job>
}

export async function openJobs(t: TestContext, kind: string): Promise<TestJobs> {
  const log = silentLog()
  const { path } = await makeDatabaseFolder(t)
  await copyDatabase(path)
  const store = await openStore({ path, log })
  const clock = { at: START }
  const now = () => clock.at
  const started: ReturnType<typeof startJobs>[] = []
  t.after(async () => {
    for (const each of started) await each.stop(0)
    await store.close()
  })
  const find = async (id: string) => {
    const job = await findJob(store.read, id)
    assert.ok(job)
    return job
  }
  return {
    store,
    clock,
    now,
    find,
    run(options) {
      const running = startJobs({ store, log, now, handlers: {}, ...options })
      started.push(running)
      return running
    },
    async add(job = {}) {
      const enqueued = await store.write((tx) =>
        enqueueJob(tx, { kind, payload: {}, now: now(), ...job }),
      )
      assert.ok(enqueued.isNew)
      return enqueued.id
    },
    async reaches(id, state) {
      for (;;) {
        const job = await find(id)
        if (job.state === state) return job
        await new Promise(setImmediate)
      }
    },
  }
}
