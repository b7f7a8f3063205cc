/**
 * Runs work that brings rows in line with a change: at the start, when it is woken, and each minute, one
 * run at a time. A change during a run makes another one.
 */
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts'

type SettlerOptions = {
  /** Must not throw. `soon`: some work waits for what is under way, so another run begins in a second. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most settlers have nothing to say.
  settle(signal: AbortSignal): Promise<'soon' | void>
  /** Subscribes `wake`; returns the functions that end this. */
  subscribe(wake: () => void): (() => void)[]
}

export function startSettler({ settle, subscribe }: SettlerOptions): { stop(): Promise<void> } {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let isWanted = false
  let soon: NodeJS.Timeout | undefined

  async function run(): Promise<void> {
    while (isWanted && !stopping.signal.aborted) {
      isWanted = false
      if ((await settle(stopping.signal)) === 'soon') wakeSoon()
    }
    running = undefined
  }

  function wake(): void {
    isWanted = true
    if (!stopping.signal.aborted) running ??= run()
  }

  function wakeSoon(): void {
    clearTimeout(soon)
    if (!stopping.signal.aborted) soon = setTimeout(wake, SECOND_MS)
  }

  const ends = subscribe(wake)
  const timer = setInterval(wake, MINUTE_MS)
  wake()
  return {
    async stop() {
      stopping.abort()
      clearInterval(timer)
      clearTimeout(soon)
      for (const end of ends) end()
      await running
    },
  }
}
