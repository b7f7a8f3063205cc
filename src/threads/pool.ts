/**
 * A pool of supervised worker threads. Threads start one by one, as their owner needs them. A thread
 * that crashes, or that `shouldEnd` finds hung or idle, is gone: its owner gets the tasks it had in
 * hand back through `ended` and may start another one.
 *
 * A thread has started when it has sent its first message. After threads that end before that, the
 * pool may start none for a while (`pauseMs`), so that a broken program does not start threads in a
 * loop.
 */
import type { Worker } from 'node:worker_threads'

/** `state` is the owner's: the tasks in hand, for example. */
export type PoolThread<State> = {
  readonly number: number
  readonly worker: Worker
  readonly state: State
  /** When it was launched, by `performance.now()`. */
  readonly launchedAt: number
  hasStarted: boolean
}

export type PoolOptions<State, Message> = {
  maxThreads: number
  launch(): { worker: Worker; state: State }
  received(thread: PoolThread<State>, message: Message): void
  /** `error`: what the thread threw; undefined if it was ended. Called by `stop`, too. */
  ended(thread: PoolThread<State>, error: unknown): void
  /** How long no thread starts after `failedStarts` threads in a row; default: no pause. */
  pauseMs?(failedStarts: number): number
  /** Checks every running thread; one that should end is terminated. */
  watch?: {
    everyMs(): number
    shouldEnd(thread: PoolThread<State>): boolean | Promise<boolean>
    /** Called after each round of checks, while threads run or a pause lasts. */
    checked?(): void
  }
}

export type ThreadPool<State> = {
  list(): readonly PoolThread<State>[]
  /** Returns undefined if there are enough threads, or none may start now. */
  start(): PoolThread<State> | undefined
  /** Terminates one thread. It leaves the pool at once; `ended` follows when it has exited. */
  end(thread: PoolThread<State>): void
  /** Terminates all threads without `ended`: they have nothing in hand. */
  rest(): void
  /** Starts no more threads, lets each finish by `finish`, then terminates it. */
  stop(finish?: (thread: PoolThread<State>) => Promise<void>): Promise<void>
}

export function createThreadPool<State, Message>(
  options: PoolOptions<State, Message>,
): ThreadPool<State> {
  const { watch } = options
  const running: PoolThread<State>[] = []
  const resting = new WeakSet<PoolThread<State>>()
  const exits = new Set<Promise<unknown>>()
  let lastNumber = 0
  let failedStarts = 0
  let pausedUntil = 0
  let isStopping = false
  let timer: NodeJS.Timeout | undefined

  function start(): PoolThread<State> | undefined {
    if (isStopping || running.length >= options.maxThreads || isPaused()) return undefined
    const launched = { number: ++lastNumber, launchedAt: performance.now(), hasStarted: false }
    const thread: PoolThread<State> = { ...launched, ...options.launch() }
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
    if (resting.has(thread)) return
    remove(thread)
    if (!thread.hasStarted && !isStopping) {
      failedStarts += 1
      // A thread launched before the pause began may end in it, and must not shorten it.
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
    if (shouldEnd === true || (shouldEnd !== false && (await shouldEnd)))
      await thread.worker.terminate()
  }

  function end(thread: PoolThread<State>): void {
    remove(thread)
    void thread.worker.terminate()
  }

  function rest(): void {
    for (const thread of running.splice(0)) {
      resting.add(thread)
      void thread.worker.terminate()
    }
  }

  async function stop(finish?: (thread: PoolThread<State>) => Promise<void>): Promise<void> {
    isStopping = true
    clearInterval(timer)
    const finishing = running.map(async (thread) => {
      await finish?.(thread)
      await thread.worker.terminate()
    })
    await Promise.all([...finishing, ...exits])
  }

  return { list: () => running, start, end, rest, stop }
}
