/** Limits how much work runs at once. The rest waits in order, up to a limit. */

export type Semaphore = {
  /**
   * Runs `work` when there is a free place, and settles as `work` does.
   * @throws SemaphoreRefused if too many wait already, or after `stop`
   */
  take<T>(work: () => Promise<T>): Promise<T>
  /** Refuses all waiting work. Work that has begun continues. */
  stop(): void
}

export class SemaphoreRefused extends Error {
  override readonly name = 'SemaphoreRefused'
}

type WaitingTask = { begin: () => void; refuse: (error: SemaphoreRefused) => void }

export function createSemaphore({
  atOnce,
  waiting: maxWaiting,
}: {
  atOnce: number
  waiting: number
}): Semaphore {
  const waiting: WaitingTask[] = []
  let running = 0
  let isStopped = false

  async function waitForPlace(): Promise<void> {
    if (isStopped) throw new SemaphoreRefused('stopped')
    if (waiting.length >= maxWaiting) throw new SemaphoreRefused('too many look-ups at once')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    waiting.push({ begin: resolve, refuse: reject })
    return promise
  }

  /** Passes the place directly to the next one, so that no later call can take it. */
  function pass(): void {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next.begin()
  }

  return {
    async take(work) {
      // If there is a free place, the work begins before `take` returns.
      if (running < atOnce) running += 1
      else await waitForPlace()
      try {
        // `stop` may have been called since the place was passed on.
        if (isStopped) throw new SemaphoreRefused('stopped')
        return await work()
      } finally {
        pass()
      }
    },
    stop() {
      isStopped = true
      for (const { refuse } of waiting.splice(0)) refuse(new SemaphoreRefused('stopped'))
    },
  }
}
