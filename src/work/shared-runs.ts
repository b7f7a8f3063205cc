/**
 * Runs long work one run at a time. Callers that arrive during a run share the next one, which
 * begins when that run has ended. So each caller gets the result of a run that began after its
 * call, and at most one run waits.
 */
import { runShared } from '../turns/owner.ts'

export type SharedRuns = {
  /**
   * Runs `act` now, or as the next run of that name. Calls of one name must have the same result.
   */
  take<T>(name: string, act: () => Promise<T>): Promise<T>
}

type Run = { ended: Promise<unknown>; next: Promise<unknown> | undefined }

export function createSharedRuns(): SharedRuns {
  const runs = new Map<string, Run>()

  function start(name: string, act: () => Promise<unknown>): Promise<unknown> {
    const running = runShared(act)
    const end = () => {
      if (run.next === undefined) runs.delete(name)
    }
    const run: Run = { ended: running.then(end, end), next: undefined }
    runs.set(name, run)
    return running
  }

  return {
    take<T>(name: string, act: () => Promise<T>) {
      const run = runs.get(name)
      if (run === undefined) return start(name, act) as Promise<T>
      run.next ??= run.ended.then(() => start(name, act))
      return run.next as Promise<T>
    },
  }
}
