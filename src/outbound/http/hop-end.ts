/** The end of a hop: the caller's signal, or its time, which begins before the name is resolved. */
import { Ended } from './failure.ts'

export type HopEnd = {
  /** Aborts with an `Ended` as its reason. */
  signal: AbortSignal
  /** Resolves as `work` does. @throws Ended if the end comes first */
  before<T>(work: Promise<T>): Promise<T>
  /** Must be called when the hop is over. */
  stop(): void
}

export function startHopEnd(timeoutMs: number, caller: AbortSignal | undefined): HopEnd {
  const ending = new AbortController()
  const { signal } = ending
  const abort = () => ending.abort(new Ended('aborted', 'the request was aborted'))
  const late = () => ending.abort(new Ended('timeout', 'the time for the request is over'))
  const timer = setTimeout(late, timeoutMs)
  caller?.addEventListener('abort', abort)
  if (caller?.aborted) abort()
  const { promise: ended, reject } = Promise.withResolvers<never>()
  ended.catch(() => undefined)
  if (signal.aborted) reject(signal.reason)
  else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  return {
    signal,
    before: (work) => Promise.race([work, ended]),
    stop() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', abort)
    },
  }
}
