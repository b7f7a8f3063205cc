/** So much at once, the rest in order of asking, and no more than can wait. */

export type Semaphore = {
  /**
   * Does `work` when it is its turn; what it resolves or rejects to is handed on.
   * @throws TurnRefused when too many wait already, or after `stop`
   */
  take<T>(work: () => Promise<T>): Promise<T>
  /** Refuses all who wait. What has begun goes on. */
  stop(): void
}

export class SemaphoreRefused extends Error {
  override readonly name = 'TurnRefused'
}

type Waiting = { begin: () => void; refuse: (error: SemaphoreRefused) => void }

export function createSemaphore({
  atOnce,
  waiting: room,
}: {
  atOnce: number
  waiting: number
}): Semaphore {
  const waiting: Waiting[] = []
  let running = 0
  let isStopped = false

  async function nextTurn(): Promise<void> {
    if (isStopped) throw new SemaphoreRefused('stopped')
    if (waiting.length >= room) throw new SemaphoreRefused('too many look-ups at once')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    waiting.push({ begin: resolve, refuse: reject })
    return promise
  }

  /** The turn goes straight to whoever is next, so that nobody slips in between. */
  function pass(): void {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next.begin()
  }

  return {
    async take(work) {
      // What finds a free place begins before `take` returns.
      if (running < atOnce) running += 1
      else await nextTurn()
      try {
        // Told to begin, and stopped before it could.
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
