import type { Now } from '../clock.ts'
import { describeError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/store.ts'
import { retryDelayMs } from './backoff.ts'
import { type Claimed, completeJob, failJob, reportProgress, trimFinished } from './ledger.ts'

export type RunningJob = {
  id: string
  /** What proves that the job is still this run's: `saveProgress`. */
  leaseId: string
  kind: string
  projectId: string | null
  payload: unknown
  /** 1 for the first try. */
  attempt: number
  /**
   * Aborts when the program stops (at once for kinds with a limit of their own, else when it cannot
   * wait any longer), or when the lease was lost.
   */
  signal: AbortSignal
  reportProgress(percent: number): Promise<void>
}

/** Thrown by a handler that knows why no other try would end better: the job has failed at once. */
export class FinalFailure extends Error {
  override readonly name = 'FinalFailure'
}

/** Does the work; what it resolves to is stored as the job's result. */
export type JobHandler = (job: RunningJob) => Promise<unknown>

type Deps = { store: Store; log: Log; now: Now; handlers: Record<string, JobHandler> }
type Outcome = { result: unknown } | { error: string; isFinal: boolean }

/** Runs one claimed job and records how it ended; an aborted one is not this process's any more. */
export async function runJob(deps: Deps, job: Claimed, signal: AbortSignal): Promise<void> {
  const outcome = await attempt(deps, job, signal)
  if (signal.aborted) return
  try {
    await record(deps, job, outcome)
  } catch (error) {
    // The lease ends by itself, and the job runs again.
    deps.log.error({ error: describeError(error), job: job.id }, 'a job could not be recorded')
  }
}

async function attempt(deps: Deps, job: Claimed, signal: AbortSignal): Promise<Outcome> {
  const { id, leaseId, kind, projectId, payload, attempts } = job
  const report = async (percent: number) => {
    if (!signal.aborted) await deps.store.write((tx) => reportProgress(tx, job, percent))
  }
  try {
    const handler = deps.handlers[kind]
    if (!handler) throw new TypeError(`No handler for "${kind}".`)
    const running = { id, leaseId, kind, projectId, payload, attempt: attempts, signal }
    return { result: await handler({ ...running, reportProgress: report }) }
  } catch (error) {
    deps.log.warn({ error, job: id, kind, attempt: attempts }, 'a job failed')
    return { error: describeError(error), isFinal: error instanceof FinalFailure }
  }
}

async function record({ store, now }: Deps, job: Claimed, outcome: Outcome): Promise<void> {
  const endedAt = now()
  if ('result' in outcome) {
    const { result } = outcome
    await store.write(async (tx) => {
      await completeJob(tx, job, { result, now: endedAt })
      await trimFinished(tx, job)
    })
    return
  }
  const isLast = outcome.isFinal || job.attempts >= job.maxAttempts
  const retryAt = isLast ? null : endedAt + retryDelayMs(job.attempts)
  await store.write(async (tx) => {
    await failJob(tx, job, { error: outcome.error, retryAt, now: endedAt })
    if (isLast) await trimFinished(tx, job)
  })
}
