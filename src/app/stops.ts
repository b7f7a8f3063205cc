/**
 * Stops the parts of the server. HTTP accepts emails for as long as anything else takes time, so that a
 * restart is short for its clients. First the inbound sessions finish their messages, jobs and loops end, and
 * delivery puts back its emails, but for those whose receiver has the message and is about to answer. Then
 * HTTP finishes its requests, and the parts that it needs end in the reverse of their start.
 */

/** The time for a stop; unfinished work is put back. */
const STOP_WITHIN_MS = 8_500
/** The part of `STOP_WITHIN_MS` in which HTTP still accepts requests. */
const WORK_WITHIN_MS = 7_000
/** The least grace that each part gets, even the last part. */
const LEAST_GRACE_MS = 500

export type Stop = (graceMs: number) => Promise<unknown>

/**
 * The functions that stop the parts, in the order of starting; each gets its grace. `delivery` is in the
 * order of stopping: claims end before deliveries.
 */
export type Stops = Record<'mail' | 'jobs' | 'loops' | 'delivery' | 'http' | 'parts', Stop[]>

export function createStops(): Stops {
  return { mail: [], jobs: [], loops: [], delivery: [], http: [], parts: [] }
}

/**
 * Stops what has started; a second call finds nothing. A failure of one part does not keep the others
 * from stopping. @throws the first failure
 */
export async function stopAll(stops: Stops): Promise<void> {
  const { mail, jobs, loops, delivery, http, parts } = stops
  const startedAt = performance.now()
  const failures: unknown[] = []
  const stopInOrder = async (each: Stop[], withinMs: number) => {
    for (const stop of each) {
      const graceMs = Math.max(LEAST_GRACE_MS, startedAt + withinMs - performance.now())
      await stop(graceMs).catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all([
    ...mail.splice(0).map((stop) => stopInOrder([stop], WORK_WITHIN_MS)),
    stopInOrder(jobs.splice(0).reverse(), WORK_WITHIN_MS),
    stopInOrder(loops.splice(0).reverse(), WORK_WITHIN_MS),
    stopInOrder(delivery.splice(0), WORK_WITHIN_MS),
  ])
  await stopInOrder(http.splice(0), STOP_WITHIN_MS)
  await stopInOrder(parts.splice(0).reverse(), STOP_WITHIN_MS)
  if (failures.length > 0) throw failures[0]
}
