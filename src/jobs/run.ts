import type { Now } from '../clock.ts'
import { AppError, describeError } from '../errors.ts'
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

/**
 * Thrown by a handler that knows why no other try would end better: the job has failed at once. Its
 * text is shown to whoever asked for the work, as that of an `AppError` is.
 */
export class FinalFailure extends Error {
  override readonly name = 'FinalFailure'
}

/** Does the work; what it resolves to is stored as the job's result. */
export type JobHandler = (job: RunningJob) => Promise<unknown>

const INTERNAL = 'Something went wrong inside the server, whose log has the details.'

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
    const caller = { key: projectId ?? '', isJob: true }
    const work = () => handler({ ...running, reportProgress: report })
    return { result: await deps.store.scanFor(caller, work) }
  } catch (error) {
    // Interrupted, it has not failed.
    if (!signal.aborted) logFailure(deps.log, job, error)
    return { error: reasonOf(error, projectId), isFinal: error instanceof FinalFailure }
  }
}

/** What could not be as it was asked for is no fault of the program. */
function logFailure(log: Log, { id, kind, attempts }: Claimed, error: unknown): void {
  const run = { job: id, kind, attempt: attempts }
  if (error instanceof FinalFailure)
    log.info({ ...run, reason: error.message }, 'a job was in vain')
  else log.warn({ ...run, error }, 'a job failed')
}

/** A project is shown why its job failed: what was not said to it is for the log alone. */
function reasonOf(error: unknown, projectId: string | null): string {
  const isPublic = error instanceof AppError || error instanceof FinalFailure
  return isPublic || projectId === null ? describeError(error) : INTERNAL
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
