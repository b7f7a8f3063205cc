/** The end of a hop: the caller's signal, or its time, which begins before the name is resolved. */
import { Ended } from './failure.ts'

type Watcher = (reason: Ended) => void

export type HopEnd = {
  /** Calls `watcher` when the hop ends, or at once if it has ended. It replaces the one before. Returns its end. */
  watch(watcher: Watcher): () => void
  /** Resolves as `work` does. @throws Ended if the end comes first */
  before<T>(work: Promise<T>): Promise<T>
  /** Must be called when the hop is over. */
  stop(): void
}

export function startHopEnd(timeoutMs: number, caller: AbortSignal | undefined): HopEnd {
  let reason: Ended | undefined
  let current: Watcher | undefined
  const end = (why: Ended) => {
    if (reason !== undefined) return
    reason = why
    current?.(why)
  }
  const abort = () => end(new Ended('aborted', 'the request was aborted'))
  const late = () => end(new Ended('timeout', 'the time for the request is over'))
  const timer = setTimeout(late, timeoutMs)
  caller?.addEventListener('abort', abort)
  if (caller?.aborted) abort()

  function watch(watcher: Watcher): () => void {
    current = watcher
    if (reason !== undefined) watcher(reason)
    return () => {
      if (current === watcher) current = undefined
    }
  }

  return {
    watch,
    before: (work) =>
      new Promise((resolve, reject) => {
        watch(reject)
        work.then(resolve, reject)
      }),
    stop() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', abort)
    },
  }
}
