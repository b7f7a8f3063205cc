/** Work beside a loop: any number of pieces at the same time. Only the stop waits for them. */
export type Beside = {
  /** Begins the work now; does nothing after the stop. */
  run(act: () => Promise<unknown>): void
  /** Begins no more work, and resolves when all begun work has ended. */
  stop(): Promise<void>
}

/** `onError` is called with the error of each piece that fails. */
export function createBeside(onError: (error: unknown) => void): Beside {
  const running = new Set<Promise<unknown>>()
  let isStopped = false
  return {
    run(act) {
      if (isStopped) return
      const work = act()
        .catch(onError)
        .finally(() => running.delete(work))
      running.add(work)
    },
    async stop() {
      isStopped = true
      await Promise.all(running)
    },
  }
}
