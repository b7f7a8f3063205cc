import type { Now } from '../../base/clock.ts'
import { notFound } from '../../base/errors.ts'
import { octets } from '../../store/dialect.ts'
import { and, eq, inArray, sql } from '../../store/drizzle.ts'
import { type Job, jobs } from '../../store/schema/jobs.ts'
import type { JobState } from '../../store/schema/words.ts'
import type { Store } from '../../store/store.ts'

/** A job as the API shows it to its project. */
export type JobStatus = {
  id: string
  /** `delayed`: waiting for another attempt. */
  state: JobState | 'delayed'
  /** The progress in percent, from 0 to 100. */
  progress: number
  /** The result of the job; null until the job is completed or cancelled. */
  result: unknown
  /** The payload that the job was enqueued with. */
  data: unknown
  /** The error of the latest failed attempt. */
  failedReason: string | null
}

type JobQuery = {
  projectId: string
  id: string
  /** The kinds to look for; jobs of other kinds are not found. */
  kinds: readonly string[]
}

/** @throws AppError RESOURCE_NOT_FOUND */
export async function findJobStatus(
  { store, now }: { store: Store; now: Now },
  { projectId, id, kinds }: JobQuery,
): Promise<JobStatus> {
  const isRequested = and(
    eq(jobs.id, id),
    eq(jobs.projectId, projectId),
    inArray(jobs.kind, [...kinds]),
  )
  const job = await store.read.select().from(jobs).where(isRequested).get()
  if (job === undefined) throw notFound('job', id, 'There is no such job.')
  return {
    id,
    state: shownState(job, now()),
    progress: job.progress,
    result: job.result,
    data: job.payload,
    failedReason: job.error,
  }
}

/** The octets of the parameters and the result of a job, as JSON; 0 without the job. */
export async function findJobBytes(
  { store }: { store: Pick<Store, 'read'> },
  id: string,
): Promise<number> {
  const bytes = sql<number>`${octets(jobs.payload)} + coalesce(${octets(jobs.result)}, 0)`
  const job = await store.read.select({ bytes }).from(jobs).where(eq(jobs.id, id)).get()
  return job?.bytes ?? 0
}

/** `at`: the current time. */
export function shownState(
  { state, runAt }: Pick<Job, 'state' | 'runAt'>,
  at: number,
): JobStatus['state'] {
  return state === 'waiting' && runAt > at ? 'delayed' : state
}
