/**
 * The states of a job's row and the changes between them:
 *
 *   waiting --claim--> active --complete--> completed
 *      ^                  |---fail, attempts left (later), put back (at once), lost
 *      |__________________|
 *                         |---fail, none left; lost too often ------> failed
 *                         |---cancel, once its step is done --------> cancelled
 *
 * A job that waits is cancelled at once (`cancel.ts`). A job whose process ends before its step is done
 * waits again, and is cancelled when it is claimed.
 *
 * A job is lost when its lease ends because the process crashed or hung. A loss does not count as
 * an attempt. A job runs again at once after its first loss, and after a growing delay after each
 * further loss, so that a process that crashes in a loop does not start the job each time. A job
 * that is lost five times without progress fails, because it is the likely cause. Every change of
 * an active job checks its lease: without the lease nothing changes.
 */

import { MINUTE_MS } from '../../base/clock.ts'
import { larger } from '../../store/dialect.ts'
import { and, eq, gte, inArray, isNotNull, lt, lte, notInArray, sql } from '../../store/drizzle.ts'
import { newId } from '../../store/ids.ts'
import { type Job, jobProgress, jobs } from '../../store/schema/jobs.ts'
import type { Tx } from '../../store/write/transaction.ts'
import { TICK_PREFIX } from './cron.ts'
import { isActiveJob, selectDue } from './due.ts'

export type ClaimedJob = Job & { leaseId: string }
/** Identifies an active job and proves that the caller holds its lease. */
type LeasedJob = Pick<ClaimedJob, 'id' | 'leaseId'>

const MAX_ERROR_LENGTH = 2000
const MAX_LOSSES = 5
/** The delay after the second loss; each further loss doubles it. */
const FIRST_REST_MS = MINUTE_MS
/** How many finished jobs of a project and kind are kept; older ones are deleted. */
export const MAX_FINISHED_JOBS = { completed: 50, failed: 100, cancelled: 50 }
/** SQLite allows `offset` only after `limit`. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER
const LOST_TEXT = 'The process ended while the job was running.'

/** Claims up to `limit` due jobs, most urgent first. */
export async function claimJobs(
  tx: Tx,
  { kinds, onePerProject = false, limit, now, leaseUntil }: JobClaim,
): Promise<ClaimedJob[]> {
  const ids = sql`(${selectDue({ kinds, onePerProject }, { limit, now })})`
  const leaseId = newId()
  const claimed = await tx
    .update(jobs)
    .set({
      state: 'active',
      leaseId,
      leaseUntil,
      attempts: sql`${jobs.attempts} + 1`,
      startedAt: sql`coalesce(${jobs.startedAt}, ${now})`,
      updatedAt: now,
    })
    .where(inArray(jobs.id, ids))
    .returning()
  return claimed.map((job) => ({ ...job, leaseId })).sort(byUrgency)
}

type JobClaim = {
  kinds: readonly string[]
  /** Whether a project runs one job of a kind at a time; false if absent. */
  onePerProject?: boolean
  limit: number
  now: number
  leaseUntil: number
}

/** Puts back lost jobs without counting the attempt; jobs that were lost too often fail. */
export async function putBackLostJobs(tx: Tx, now: number): Promise<void> {
  const isLost = and(isActiveJob, lte(jobs.leaseUntil, now))
  const lost = {
    leaseId: null,
    leaseUntil: null,
    attempts: larger(0, sql`${jobs.attempts} - 1`),
    losses: sql`${jobs.losses} + 1`,
    error: LOST_TEXT,
    updatedAt: now,
  }
  await tx
    .update(jobs)
    .set({ ...lost, state: 'failed', completedAt: now })
    .where(and(isLost, gte(jobs.losses, MAX_LOSSES - 1)))
  const restMs = sql`case ${jobs.losses} when 0 then 0 else ${FIRST_REST_MS} << (${jobs.losses} - 1) end`
  await tx
    .update(jobs)
    .set({ ...lost, state: 'waiting', runAt: sql`${now} + ${restMs}` })
    .where(isLost)
}

/**
 * Ends all leases, so that the jobs of an earlier process are due at once. Call it only while no
 * other process runs and this process has claimed nothing.
 */
export async function endLeases(tx: Tx, now: number): Promise<void> {
  await tx.update(jobs).set({ leaseUntil: now }).where(isActiveJob)
}

/**
 * Deletes the unfinished ticks of kinds that this program does not have: an earlier version had another
 * name for the same work, and the next tick has the new name. Call it only while no other process runs.
 */
export async function deleteForeignTicks(tx: Tx, kinds: readonly string[]): Promise<void> {
  const isTick = and(
    gte(jobs.uniqueKey, TICK_PREFIX),
    lt(jobs.uniqueKey, `${TICK_PREFIX}\u{10ffff}`),
  )
  // The condition of the index.
  const isUnfinished = sql`unique_key is not null and state in ('waiting', 'active')`
  await tx.delete(jobs).where(and(isTick, isUnfinished, notInArray(jobs.kind, [...kinds])))
}

/**
 * Extends the lease of a job. Returns undefined when the lease is lost. `isCancelled`: somebody has asked the
 * job to stop.
 */
export async function extendLease(
  tx: Tx,
  { id, leaseId }: LeasedJob,
  leaseUntil: number,
): Promise<{ isCancelled: boolean } | undefined> {
  const isOfLease = and(eq(jobs.id, id), eq(jobs.leaseId, leaseId), isActiveJob)
  const [extended] = await tx
    .update(jobs)
    .set({ leaseUntil })
    .where(isOfLease)
    .returning({ cancelledAt: jobs.cancelledAt })
  return extended && { isCancelled: extended.cancelledAt !== null }
}

export async function completeJob(tx: Tx, job: LeasedJob, end: { result: unknown; now: number }) {
  const { result = null, now } = end
  const done = { state: 'completed', result, error: null, progress: 100, completedAt: now } as const
  const isDone = await change(tx, job, { ...done, ...released(now) })
  if (isDone) await tx.delete(jobProgress).where(eq(jobProgress.jobId, job.id))
  return isDone
}

/** Makes the job due again at `retryAt`; null means that the job has failed for good. */
export async function failJob(
  tx: Tx,
  job: LeasedJob,
  { error, retryAt, now }: { error: string; retryAt: number | null; now: number },
): Promise<boolean> {
  const text = { error: error.slice(0, MAX_ERROR_LENGTH) }
  if (retryAt === null) {
    return change(tx, job, { ...text, state: 'failed', completedAt: now, ...released(now) })
  }
  return change(tx, job, { ...text, state: 'waiting', runAt: retryAt, ...released(now) })
}

/** Ends a job that was cancelled. `result`: what it has done until then. */
export async function endCancelledJob(
  tx: Tx,
  job: LeasedJob,
  { result, now }: { result: unknown; now: number },
): Promise<boolean> {
  const end = { state: 'cancelled', result, error: null, completedAt: now } as const
  const isEnded = await change(tx, job, { ...end, ...released(now) })
  if (isEnded) await tx.delete(jobProgress).where(eq(jobProgress.jobId, job.id))
  return isEnded
}

/** Puts back an unfinished job; the attempt does not count. */
export async function putBackJob(tx: Tx, job: LeasedJob, now: number): Promise<boolean> {
  const attempts = sql`${jobs.attempts} - 1`
  return change(tx, job, { state: 'waiting', attempts, ...released(now) })
}

/** `percent` from 0 to 100. False when the lease is lost. */
export async function setPercent(tx: Tx, job: LeasedJob, percent: number): Promise<boolean> {
  return change(tx, job, { progress: Math.round(percent) })
}

/** `total`: null while it is not known. */
export type JobCount = { done: number; total: number | null }

/** `percent`: from 0 to 100. What is absent stays as it is. */
export type JobAdvance = { percent?: number | undefined; count?: JobCount | undefined }

/**
 * Sets the percentage and the count, once the work is durable: earlier attempts and losses no longer
 * count.
 */
export async function recordAdvance(
  tx: Tx,
  job: LeasedJob,
  { percent, count }: JobAdvance,
): Promise<boolean> {
  const progress = percent === undefined ? sql`${jobs.progress}` : Math.round(percent)
  return change(tx, job, { progress, ...count, attempts: 1, losses: 0 })
}

/**
 * Deletes the finished jobs of this job's project and kind beyond the newest 50 completed and 100
 * failed ones, or beyond the newest 50 cancelled ones.
 */
export async function deleteSurplusJobs(
  tx: Tx,
  { projectId, kind }: Pick<Job, 'projectId' | 'kind'>,
  states: readonly (keyof typeof MAX_FINISHED_JOBS)[] = ['completed', 'failed'],
): Promise<void> {
  if (projectId === null) return
  for (const state of states) {
    await tx.run(sql`delete from jobs where id in (
      select id from jobs
      where project_id = ${projectId} and kind = ${kind} and state = ${state}
        and project_id is not null and completed_at is not null
      order by completed_at desc, id desc limit ${NO_LIMIT} offset ${MAX_FINISHED_JOBS[state]})`)
  }
}

/** Deletes jobs that completed or failed before the given instants; cancelled ones as completed ones. */
export async function deleteExpiredJobs(
  tx: Tx,
  before: { completed: number; failed: number },
): Promise<void> {
  const isOver = isNotNull(jobs.completedAt)
  for (const [state, ...others] of [['completed', 'cancelled'], ['failed']] as const) {
    const isOld = lt(jobs.completedAt, before[state])
    await tx.delete(jobs).where(and(isOver, inArray(jobs.state, [state, ...others]), isOld))
  }
}

type Changes = Parameters<ReturnType<typeof updateJobs>['set']>[0]

function updateJobs(tx: Tx) {
  return tx.update(jobs)
}

async function change(tx: Tx, { id, leaseId }: LeasedJob, changes: Changes): Promise<boolean> {
  const isOfLease = and(eq(jobs.id, id), eq(jobs.leaseId, leaseId), isActiveJob)
  const changed = await updateJobs(tx).set(changes).where(isOfLease).returning({ id: jobs.id })
  return changed.length > 0
}

function released(now: number) {
  return { leaseId: null, leaseUntil: null, updatedAt: now }
}

function byUrgency(a: Job, b: Job): number {
  return a.priority - b.priority || a.runAt - b.runAt
}

export function lostLeaseError(): Error {
  return new Error('The lease of the job was lost.')
}
