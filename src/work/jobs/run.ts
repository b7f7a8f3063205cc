import { HOUR_MS, MINUTE_MS, type Now } from '../../base/clock.ts'
import type { Counters } from '../../base/counters.ts'
import { AppError, describeError } from '../../base/errors.ts'
import { type Log, withLogFields } from '../../base/log.ts'
import { eq } from '../../store/drizzle.ts'
import { jobProgress } from '../../store/schema/jobs.ts'
import type { Store } from '../../store/store.ts'
import type { Tx } from '../../store/write/transaction.ts'
import { runFor } from '../../turns/owner.ts'
import { isCancelled } from './cancelled.ts'
import {
  type ClaimedJob,
  completeJob,
  deleteSurplusJobs,
  endCancelledJob,
  failJob,
  setPercent,
} from './job-row.ts'

export type RunningJob = {
  id: string
  /** Identifies the lease, by which `saveProgress` checks that the job still belongs to this run. */
  leaseId: string
  kind: string
  projectId: string | null
  payload: unknown
  /** 1 for the first attempt. */
  attempt: number
  /**
   * Aborts when the program stops (at once for kinds with their own limit, otherwise after the
   * grace time), when the lease is lost, and when the job is cancelled (`JobCancelled`).
   */
  signal: AbortSignal
  setPercent(percent: number): Promise<void>
}

/** Does the work of a kind of job and returns the job's result. */
export type JobHandler = (job: RunningJob) => Promise<unknown>

/**
 * Returns the result of a job that was cancelled: what it has done. `state`: what it saved last
 * (`progress.ts`); undefined if it saved nothing.
 */
export type PartialResult = (state: unknown, payload: unknown) => unknown

/** What the end of a cancelled job of a kind needs. */
export type CancelledEnd = {
  partialResult: PartialResult
  /** Deletes what was stored for the job to read, in the transaction in which it ends. */
  discard?: (tx: Tx, payload: unknown) => Promise<void>
}

const INTERNAL = 'The server failed to do this work. Its log has the details.'

type Deps = {
  store: Store
  log: Log
  counters?: Pick<Counters, 'add'> | undefined
  now: Now
  handlers: Record<string, JobHandler>
  cancelledEnds: Readonly<Record<string, CancelledEnd>>
}

type RunEnd = { result: unknown } | { error: string; isFinal: boolean }

const FIRST_DELAY_MS = MINUTE_MS

const MAX_DELAY_MS = HOUR_MS

/**
 * A handler throws this error when another attempt would end in the same way; the job fails at
 * once. As with `AppError`, the project sees the text.
 */
export class FinalFailure extends Error {
  override readonly name = 'FinalFailure'
}

/**
 * Runs a claimed job and records its result. Records nothing once the signal has aborted, unless the job
 * was cancelled.
 */
export async function runJob(deps: Deps, job: ClaimedJob, signal: AbortSignal): Promise<void> {
  const end = await attempt(deps, job, signal)
  const wasCancelled = isCancelled({ signal })
  if (signal.aborted && !wasCancelled) return
  try {
    if (wasCancelled && 'error' in end) await recordCancelled(deps, job)
    else await record(deps, job, end)
  } catch (error) {
    // Nothing is recorded: the lease ends, and the job runs again.
    deps.log.error({ error: describeError(error), jobId: job.id }, 'a job could not be recorded')
  }
}

/**
 * Returns the delay after the given number of failures: a minute, doubling up to an hour. Each is
 * up to a quarter shorter or longer at random, so that jobs that failed together are not all due
 * together.
 */
export function jobDelayMs(attempts: number, random: () => number = Math.random): number {
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** Math.max(0, attempts - 1), MAX_DELAY_MS)
  return Math.round(delayMs * (0.75 + random() / 2))
}

async function attempt(deps: Deps, job: ClaimedJob, signal: AbortSignal): Promise<RunEnd> {
  const { id, leaseId, kind, projectId, payload, attempts } = job
  const savePercent = async (percent: number) => {
    if (!signal.aborted) await deps.store.write((tx) => setPercent(tx, job, percent))
  }
  try {
    signal.throwIfAborted()
    const handler = deps.handlers[kind]
    if (!handler) throw new TypeError(`No handler for "${kind}".`)
    const running = { id, leaseId, kind, projectId, payload, attempt: attempts, signal }
    const owner = { key: projectId ?? '', isJob: true }
    const work = () => handler({ ...running, setPercent: savePercent })
    const fields = { jobId: id, projectId: projectId ?? undefined }
    return { result: await withLogFields(fields, () => runFor(owner, work)) }
  } catch (error) {
    // A job that was interrupted has not failed.
    if (!signal.aborted) noteFailure(deps, job, error)
    return { error: reasonOf(error, projectId), isFinal: error instanceof FinalFailure }
  }
}

/** A FinalFailure comes from the project's data, not from the server, so its level is `info`. */
function noteFailure(
  { log, counters, handlers }: Deps,
  { id, kind, attempts }: ClaimedJob,
  error: unknown,
): void {
  counters?.add('pillarbox_job_failures_total', { kind: kind in handlers ? kind : 'other' })
  const run = { jobId: id, kind, attempt: attempts }
  if (error instanceof FinalFailure)
    log.info({ ...run, reason: error.message }, 'a job failed for good')
  else log.warn({ ...run, error }, 'a job failed')
}

/** The reason that the project sees. Internal errors stay in the log. */
function reasonOf(error: unknown, projectId: string | null): string {
  const isPublic = error instanceof AppError || error instanceof FinalFailure
  return isPublic || projectId === null ? describeError(error) : INTERNAL
}

async function record({ store, now }: Deps, job: ClaimedJob, end: RunEnd): Promise<void> {
  const endedAt = now()
  if ('result' in end) {
    const { result } = end
    await store.write(async (tx) => {
      await completeJob(tx, job, { result, now: endedAt })
      await deleteSurplusJobs(tx, job)
    })
    return
  }
  const isLast = end.isFinal || job.attempts >= job.maxAttempts
  const retryAt = isLast ? null : endedAt + jobDelayMs(job.attempts)
  await store.write(async (tx) => {
    await failJob(tx, job, { error: end.error, retryAt, now: endedAt })
    if (isLast) await deleteSurplusJobs(tx, job)
  })
}

async function recordCancelled(
  { store, now, cancelledEnds }: Deps,
  job: ClaimedJob,
): Promise<void> {
  const { id, kind, payload } = job
  await store.write(async (tx) => {
    const saved = await tx.select().from(jobProgress).where(eq(jobProgress.jobId, id)).get()
    const end = cancelledEnds[kind]
    const result = end?.partialResult(saved?.state, payload) ?? null
    if (await endCancelledJob(tx, job, { result, now: now() })) await end?.discard?.(tx, payload)
    await deleteSurplusJobs(tx, job, ['cancelled'])
  })
}
