/** A job as its handler is given it, for tests that call the handler themselves. */
import assert from 'node:assert/strict'
import type { Now } from '../../../src/base/clock.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { type Job, jobs } from '../../../src/store/schema/jobs.ts'
import type { Reader, Store } from '../../../src/store/store.ts'
import { claimJobs, putBackLostJobs, setPercent } from '../../../src/work/jobs/job-row.ts'
import type { RunningJob } from '../../../src/work/jobs/run.ts'

export type ClaimedJob = RunningJob & { abort: AbortController }

/**
 * Takes the next waiting job of the kind, as the loop does, for `leaseMs`; those whose lease has
 * ended by then wait again.
 */
export async function claimJob(
  { store, now }: { store: Store; now: Now },
  kind: string,
  leaseMs = 60_000,
): Promise<ClaimedJob> {
  const at = now()
  const [job] = await store.write(async (tx) => {
    await putBackLostJobs(tx, at)
    return claimJobs(tx, { kinds: [kind], limit: 1, now: at, leaseUntil: at + leaseMs })
  })
  assert.ok(job, `a job of kind ${kind} waits`)
  const { id, leaseId, projectId, payload, attempts } = job
  const abort = new AbortController()
  return {
    id,
    leaseId,
    kind,
    projectId,
    payload,
    attempt: attempts,
    signal: abort.signal,
    abort,
    setPercent: async (percent) => {
      await store.write((tx) => setPercent(tx, job, percent))
    },
  }
}

/** Returns the job with the id. */
export async function findJob(
  reader: Pick<Reader, 'select'>,
  id: string,
): Promise<Job | undefined> {
  return reader.select().from(jobs).where(eq(jobs.id, id)).get()
}
