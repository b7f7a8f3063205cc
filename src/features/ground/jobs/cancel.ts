/** Cancels a job that a call of the API has enqueued. What it has done stays, and its result counts that. */
import { AppError, notFound } from '../../../base/errors.ts'
import type { JobRecord } from '../../../records/job.ts'
import { and, eq, inArray, isNull } from '../../../store/drizzle.ts'
import { jobs } from '../../../store/schema/jobs.ts'
import { cancelJob } from '../../../work/jobs/cancel.ts'
import type { Base } from '../base.ts'
import { type JobDeps, readShownJobs } from './shown-row.ts'

type JobKey = { projectId: string; id: string }

/**
 * A job that waits has ended when the promise resolves. A running job stops after its step, and is `active`
 * with `isCancelling` until then, also after a restart of the server.
 * @throws AppError RESOURCE_NOT_FOUND; CONFLICT with `details.state` for a job that has ended
 */
export async function cancelShownJob(
  deps: JobDeps & Pick<Base, 'jobCancels'>,
  { projectId, id }: JobKey,
): Promise<JobRecord> {
  const { store, now, duties, jobCancels } = deps
  const isAsked = and(
    eq(jobs.id, id),
    eq(jobs.projectId, projectId),
    inArray(jobs.kind, [...duties.shownJobs.keys()]),
    isNull(jobs.uniqueKey),
  )
  await store.write(async (tx) => {
    const job = await tx.select().from(jobs).where(isAsked).get()
    const shown = job && duties.shownJobs.get(job.kind)
    if (job === undefined || shown === undefined) throw noSuchJob(id)
    const change = await cancelJob(tx, job, { end: shown, now: now() })
    if (change === 'ended') throw hasEnded(job.state)
    if (change === 'stopping') tx.afterCommit(() => jobCancels.notify(id))
  })
  const [record] = await readShownJobs(deps, projectId, [id])
  if (record === undefined) throw noSuchJob(id)
  return record
}

function noSuchJob(id: string): AppError {
  return notFound('job', id, 'There is no such job.')
}

function hasEnded(state: string): AppError {
  return new AppError('CONFLICT', `The job has ended: it is ${state}.`, {
    details: { state },
    suggestion: 'Nothing was changed. What a job has done is not undone.',
  })
}
