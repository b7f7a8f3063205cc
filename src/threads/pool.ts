/**
 * A pool of supervised worker threads. The owner starts each thread when it needs one. When a
 * thread crashes, or is terminated because `shouldEnd` finds it hung or idle, the pool calls
 * `ended`; the owner then takes care of the thread's tasks and may start another thread.
 *
 * A thread has started when it has sent its first message. After a thread that ended before that,
 * the pool starts none for `pauseMs`, so that a broken program does not start threads in a loop.
 */
import type { Worker } from 'node:worker_threads'

/** `state` belongs to the owner: the tasks of the thread, for example. */
export type PoolThread<State> = {
  readonly number: number
  readonly worker: Worker
  readonly state: State
  hasStarted: boolean
}

export type PoolOptions<State, Message> = {
  maxThreads: number
  launch(): { worker: Worker; state: State }
  received(thread: PoolThread<State>, message: Message): void
  /**
   * `error`: the error that the thread threw; undefined if it was ended. `stop` calls it as well.
   */
  ended(thread: PoolThread<State>, error: unknown): void
  /** How long to start no thread after `failedStarts` failures in a row; default: no pause. */
  pauseMs?(failedStarts: number): number
  /** Checks every running thread; one that should end is terminated. */
  watch?: {
    everyMs(): number
    shouldEnd(thread: PoolThread<State>): boolean | Promise<boolean>
    /** Called after each round of checks, while threads run or a pause lasts. */
    checked?(): void
  }
}

type ThreadPool<State> = {
  list(): readonly PoolThread<State>[]
  /** Returns undefined at `maxThreads`, during a pause and after `stop`. */
  start(): PoolThread<State> | undefined
  /** Terminates one thread. It leaves the pool at once; `ended` follows when it has exited. */
  end(thread: PoolThread<State>): void
  /** Terminates all threads without calling `ended`; call it when they have no tasks. */
  endAll(): void
  /** Calls `endAll` after that time, unless `keep` or `start` is called before. */
  rest(forMs: number): void
  keep(): void
  /** Starts no more threads; runs `finish` for each thread, then terminates it. */
  stop(finish?: (thread: PoolThread<State>) => Promise<void>): Promise<void>
}

export function createThreadPool<State, Message>(
  options: PoolOptions<State, Message>,
): ThreadPool<State> {
  const { watch } = options
  const running: PoolThread<State>[] = []
  const endedByOwner = new WeakSet<PoolThread<State>>()
  const terminated = new WeakSet<PoolThread<State>>()
  const exits = new Set<Promise<unknown>>()
  let lastNumber = 0
  let failedStarts = 0
  let pausedUntil = 0
  let isStopping = false
  let timer: NodeJS.Timeout | undefined
  let resting: NodeJS.Timeout | undefined

  function start(): PoolThread<State> | undefined {
    if (isStopping || running.length >= options.maxThreads || isPaused()) return undefined
    const thread: PoolThread<State> = {
      number: ++lastNumber,
      hasStarted: false,
      ...options.launch(),
    }
    keep()
    running.push(thread)
    listen(thread)
    if (watch !== undefined) timer ??= setInterval(check, watch.everyMs()).unref()
    return thread
  }

  function listen(thread: PoolThread<State>): void {
    const { worker } = thread
    let failure: unknown
    worker.on('message', (message: Message) => {
      thread.hasStarted = true
      failedStarts = 0
      options.received(thread, message)
    })
    worker.on('error', (error) => {
      failure = error
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    exits.add(promise)
    worker.on('exit', () => {
      exits.delete(promise)
      resolve()
      exited(thread, failure)
    })
  }

  function exited(thread: PoolThread<State>, error: unknown): void {
    if (endedByOwner.has(thread)) return
    remove(thread)
    if (!thread.hasStarted && !isStopping) {
      failedStarts += 1
      // A thread launched before the pause began may end during the pause and must not shorten it.
      const until = performance.now() + (options.pauseMs?.(failedStarts) ?? 0)
      pausedUntil = Math.max(pausedUntil, until)
    }
    options.ended(thread, error)
  }

  function remove(thread: PoolThread<State>): void {
    const at = running.indexOf(thread)
    if (at !== -1) running.splice(at, 1)
  }

  function isPaused(): boolean {
    return performance.now() < pausedUntil
  }

  function check(): void {
    for (const thread of running) void endIfNeeded(thread)
    const wasPaused = isPaused()
    watch?.checked?.()
    if (running.length > 0 || wasPaused) return
    clearInterval(timer)
    timer = undefined
  }

  async function endIfNeeded(thread: PoolThread<State>): Promise<void> {
    const shouldEnd = watch?.shouldEnd(thread)
    const isOver = shouldEnd === true || (shouldEnd !== false && (await shouldEnd))
    // A thread that was terminated may still be there for a few checks.
    if (!isOver || terminated.has(thread)) return
    terminated.add(thread)
    await thread.worker.terminate()
  }

  function end(thread: PoolThread<State>): void {
    remove(thread)
    void thread.worker.terminate()
  }

  function endAll(): void {
    for (const thread of running.splice(0)) {
      endedByOwner.add(thread)
      void thread.worker.terminate()
    }
  }

  function rest(forMs: number): void {
    clearTimeout(resting)
    if (!isStopping) resting = setTimeout(endAll, forMs).unref()
  }

  function keep(): void {
    clearTimeout(resting)
  }

  async function stop(finish?: (thread: PoolThread<State>) => Promise<void>): Promise<void> {
    isStopping = true
    clearInterval(timer)
    keep()
    const finishing = running.map(async (thread) => {
      await finish?.(thread)
      await thread.worker.terminate()
    })
    await Promise.all([...finishing, ...exits])
  }

  return { list: () => running, start, end, endAll, rest, keep, stop }
}
