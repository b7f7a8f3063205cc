/**
 * On the main thread: gives a composing thread of its own one task at a time, so that no connection
 * and no message waits for it. A task that takes too much of the thread's time or memory ends the
 * thread and has no result.
 */
import type { FromThread, ToThread } from '../protocol.ts'
import { createSemaphore } from '../semaphore.ts'
import { createThreads, shutdownError, type ThreadEnd, type ThreadsOptions } from '../threads.ts'

export type SingleTasksDeps = Pick<ThreadsOptions, 'settings' | 'log' | 'counters'> & {
  hangMs: number
  /** The thread ends when there has been nothing to do for this long. */
  restMs: number
  /** For tests. */
  createThreads?: typeof createThreads
}

type Kind<Input, Output> = {
  ask(task: number, input: Input): ToThread
  /** Returns undefined for messages that do not answer. @throws Error if the task failed */
  read(message: FromThread): { result: Output } | undefined
  /** How much longer than usual the task may take. */
  extraMs?(input: Input): number
}

export type SingleTasks<Input, Output> = {
  /**
   * Resolves to undefined for a task that ended the thread. Rejects if the task failed, and while
   * shutting down.
   */
  run(input: Input): Promise<{ result: Output } | undefined>
  stop(): Promise<void>
}

type Current<Input, Output> = {
  task: number
  input: Input
  settled: PromiseWithResolvers<{ result: Output } | undefined>
}

export function createSingleTasks<Input, Output>(
  { hangMs, restMs, ...deps }: SingleTasksDeps,
  kind: Kind<Input, Output>,
): SingleTasks<Input, Output> {
  const threads = (deps.createThreads ?? createThreads)({
    ...deps,
    name: 'composing',
    maxThreads: 1,
    hangMs: () => hangMs + (current === null ? 0 : (kind.extraMs?.(current.input) ?? 0)),
    received,
    ended,
  })
  // The number of waiting tasks is bounded elsewhere: each caller holds a share of the memory for
  // request bodies, or a place among the requests.
  const semaphore = createSemaphore({ atOnce: 1, waiting: Number.POSITIVE_INFINITY })
  let current: Current<Input, Output> | null = null
  let lastTask = 0
  let timer: NodeJS.Timeout | undefined

  async function run(input: Input): Promise<{ result: Output } | undefined> {
    clearTimeout(timer)
    const settled = Promise.withResolvers<{ result: Output } | undefined>()
    const asked = { task: ++lastTask, input, settled }
    current = asked
    begin(asked)
    try {
      return await settled.promise
    } finally {
      current = null
      timer = setTimeout(threads.endAll, restMs).unref()
    }
  }

  function begin({ task, input, settled }: Current<Input, Output>): void {
    const thread = threads.list()[0] ?? threads.start()
    if (thread !== undefined) thread.postMessage(kind.ask(task, input))
    else settled.reject(new Error('there is no thread for the task'))
  }

  function received(_thread: unknown, message: FromThread): void {
    if (current === null) return
    try {
      const read = kind.read(message)
      if (read !== undefined) current.settled.resolve(read)
    } catch (error) {
      current.settled.reject(error)
    }
  }

  function ended(_thread: unknown, { hasStarted }: ThreadEnd): void {
    if (current === null) return
    if (hasStarted) current.settled.resolve(undefined)
    else begin(current)
  }

  async function stop(): Promise<void> {
    semaphore.stop()
    current?.settled.reject(shutdownError())
    clearTimeout(timer)
    threads.endAll()
    await threads.stop(0)
    clearTimeout(timer)
  }

  return { run: (input) => semaphore.take(() => run(input)), stop }
}
