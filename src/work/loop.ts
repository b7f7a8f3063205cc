/**
 * A loop: runs work one run at a time, when it is woken and when a wait is over.
 *
 *   start       the first run begins at once, or after `firstWaitMs`
 *   run         returns after how many ms the next run is due: 0 begins it in the next turn of the event
 *               loop, nothing waits for `maxWaitMs`. No wait is longer than that
 *   woken       begins a run once the caller has gone on. During a run, another one follows it
 *   failed      `onError` is told; the next run is due after `retryMs`
 *   stopped     the signal of the run aborts, no run begins any more, and `stop` waits for the one under way
 *
 * A run that was woken leaves an earlier wait as it is, so a loop by the clock keeps its times. All runs
 * have the asynchronous context of the start: a request that wakes the loop does not own the work.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'

/** The loop as its runs see it: the same object for all of them. */
export type LoopRun = {
  /** Aborts when the loop stops. */
  readonly signal: AbortSignal
  /** Whether another run follows this one at once. */
  isWoken(): boolean
  wake(): void
}

// biome-ignore lint/suspicious/noConfusingVoidType: most runs have nothing to say.
type NextWaitMs = number | void

export type LoopOptions = {
  run(loop: LoopRun): Promise<NextWaitMs> | NextWaitMs
  /** Logs an error of a run. If absent, a run must not throw. */
  onError?(error: unknown): void
  /**
   * Each function subscribes the loop to what wakes it, and returns the function that ends the
   * subscription.
   */
  wakes?: readonly ((wake: () => void) => () => void)[]
  /** The longest wait; if absent, the loop waits until it is woken. */
  maxWaitMs?: number
  /** The wait before the first run, 0 if absent. `Infinity`: until the loop is woken. */
  firstWaitMs?: number
  /** The wait after a run that failed; `maxWaitMs` if absent. */
  retryMs?: number
  /** Whether the loop's timer keeps the process alive; true if absent. */
  keepsAlive?: boolean
}

export type Loop = {
  /** Begins a run once the caller has gone on, or after the one under way. */
  wake(): void
  /** Begins a run within `ms`. */
  wakeWithin(ms: number): void
  /** Begins a run now, or joins the one under way; resolves when the loop waits again. */
  turn(): Promise<void>
  /** Resolves when the run under way has ended, at the latest after `graceMs`. */
  stop(graceMs?: number): Promise<void>
}

/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** `Notice`: what the loop is told; nothing by default. */
export type Notifier<Notice = void> = {
  notify(notice: Notice): void
  /** Returns a function that removes the listener. */
  listen(listener: (notice: Notice) => void): () => void
}

export function startLoop({
  run,
  onError = throwLater,
  wakes = [],
  maxWaitMs = Number.POSITIVE_INFINITY,
  firstWaitMs = 0,
  retryMs = maxWaitMs,
  keepsAlive = true,
}: LoopOptions): Loop {
  const stopping = new AbortController()
  const { signal } = stopping
  const inOwnContext = AsyncLocalStorage.snapshot()
  let isWanted = false
  /** The latest run: settled unless `isRunning`. */
  let running = Promise.resolve()
  let isRunning = false
  let timer: NodeJS.Timeout | undefined
  /** When the timer fires (ms), on the monotonic clock. */
  let dueAt = Number.POSITIVE_INFINITY

  function begin(): void {
    if (isRunning || !isWanted || signal.aborted) return
    isRunning = true
    running = inOwnContext(runWhileWanted)
  }

  /** Begins synchronously, and also ends synchronously if its runs do. */
  async function runWhileWanted(): Promise<void> {
    while (isWanted && !signal.aborted) {
      isWanted = false
      const attempt = tryRun()
      const waitMs = attempt instanceof Promise ? await attempt : attempt
      if (waitMs > 0) wakeWithin(waitMs)
      else if (!isWanted && !signal.aborted) {
        await setImmediate()
        isWanted = true
      }
    }
    isRunning = false
  }

  function tryRun(): Promise<number> | number {
    try {
      const result = run(seen)
      return result instanceof Promise ? result.then(toWait, fail) : toWait(result)
    } catch (error) {
      return fail(error)
    }
  }

  function toWait(result: NextWaitMs): number {
    return Math.min(maxWaitMs, result ?? maxWaitMs)
  }

  function fail(error: unknown): number {
    onError(error)
    return retryMs
  }

  /** The run begins after the caller has gone on, so that one run is for all its notices. */
  function wake(): void {
    if (!isWanted && !isRunning) queueMicrotask(begin)
    isWanted = true
  }

  function runNow(): void {
    isWanted = true
    begin()
  }

  function wakeWithin(ms: number): void {
    const at = performance.now() + ms
    if (at >= dueAt || signal.aborted) return
    disarm()
    dueAt = at
    timer = setTimeout(fire, Math.min(ms, MAX_TIMER_MS))
    if (!keepsAlive) timer.unref()
  }

  function fire(): void {
    dueAt = Number.POSITIVE_INFINITY
    runNow()
  }

  function disarm(): void {
    clearTimeout(timer)
    dueAt = Number.POSITIVE_INFINITY
  }

  const seen: LoopRun = { signal, wake, isWoken: () => isWanted }
  const ends = wakes.map((subscribe) => subscribe(wake))
  if (firstWaitMs > 0) wakeWithin(firstWaitMs)
  else runNow()
  return {
    wake,
    wakeWithin,
    turn() {
      if (!isRunning) runNow()
      return running
    },
    async stop(graceMs) {
      stopping.abort()
      disarm()
      for (const end of ends) end()
      if (graceMs === undefined) await running
      else await settlesWithin(graceMs, running)
    },
  }
}

/**
 * A loop whose runs are `everyMs` apart; the first run is `everyMs` from now. Its timer does not keep the
 * process alive.
 */
export function runEvery(everyMs: number, run: LoopOptions['run']): Loop {
  return startLoop({ run, firstWaitMs: everyMs, maxWaitMs: everyMs, keepsAlive: false })
}

/** Resolves when the work settles, or after `ms` with false. */
export async function settlesWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, ms, false)
  try {
    return await Promise.race([work.then(() => true), promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Returns a notifier, which wakes a loop when there is work. Notify after the commit, so that the row is visible
 * (`tx.afterCommit(() => jobNotifier.notify())`). A notification without listeners is no error: each loop checks for
 * work when it starts.
 */
export function createNotifier<Notice = void>(): Notifier<Notice> {
  const listeners = new Set<(notice: Notice) => void>()
  return {
    notify(notice) {
      for (const listener of listeners) listener(notice)
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** An error that no `onError` takes is a fault of the program: it ends the process. */
function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
