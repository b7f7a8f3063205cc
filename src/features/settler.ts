/**
 * Runs work that brings rows in line with a change: at the start, when it is woken, and each minute, one
 * run at a time. A change during a run makes another one.
 */
import { MINUTE_MS } from '../clock.ts'

type SettlerOptions = {
  /** Must not throw. */
  settle(signal: AbortSignal): Promise<void>
  /** Subscribes `wake`; returns the functions that end this. */
  subscribe(wake: () => void): (() => void)[]
}

export function startSettler({ settle, subscribe }: SettlerOptions): { stop(): Promise<void> } {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let isWanted = false

  async function run(): Promise<void> {
    while (isWanted && !stopping.signal.aborted) {
      isWanted = false
      await settle(stopping.signal)
    }
    running = undefined
  }

  function wake(): void {
    isWanted = true
    if (!stopping.signal.aborted) running ??= run()
  }

  const ends = subscribe(wake)
  const timer = setInterval(wake, MINUTE_MS)
  wake()
  return {
    async stop() {
      stopping.abort()
      clearInterval(timer)
      for (const end of ends) end()
      await running
    },
  }
}
