/**
 * Decides whether a task of a thread takes too long. The processor time that the thread uses
 * counts, because on a busy machine a good task waits for a processor. A thread that waits and does
 * not work has longer.
 */
import type { Worker } from 'node:worker_threads'

/** Multiplies the limit of processor time: after so much time on the clock the task is over in any case. */
const MAX_CLOCK_SHARE = 12

type TaskTimeOptions = {
  limitMs: number
  /** The time on the clock; for tests. */
  maxClockMs?: number | undefined
}

/**
 * The time of the task begins with this call. Returns a function that tells whether the task is over; its
 * promise may stay open while the thread is stuck.
 */
export function startTaskTime(
  worker: Pick<Worker, 'cpuUsage'>,
  { limitMs, maxClockMs = limitMs * MAX_CLOCK_SHARE }: TaskTimeOptions,
): () => Promise<boolean> {
  const startedAt = performance.now()
  const before = usedMs(worker)
  return async () => {
    const clockMs = performance.now() - startedAt
    if (clockMs > maxClockMs) return true
    if (clockMs <= limitMs) return false
    const [from, to] = await Promise.all([before, usedMs(worker)])
    return from !== undefined && to !== undefined && to - from > limitMs
  }
}

/** Resolves to undefined if the thread has ended. */
async function usedMs(worker: Pick<Worker, 'cpuUsage'>): Promise<number | undefined> {
  try {
    const { user, system } = await worker.cpuUsage()
    return (user + system) / 1_000
  } catch {
    return undefined
  }
}
