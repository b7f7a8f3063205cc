/**
 * On the main thread: gives tasks to composing threads, one at a time to each. No other work uses
 * these threads, so no connection and no message waits for the tasks. A task that takes too much of
 * its thread's time or memory ends the thread and has no result. Projects take turns, and each has
 * one thread at most: slow tasks of one project leave the other thread to the others.
 */
import { RENDERING_LIMITS } from '../../turns/rendering.ts'
import { createTurns, type Turns } from '../../turns/turns.ts'
import type { DeliveryThread, FromThread, ToThread } from '../protocol.ts'
import { createThreads, shutdownError, type ThreadEnd, type ThreadsOptions } from '../threads.ts'

type ThreadTasksDeps = Pick<ThreadsOptions, 'settings' | 'log' | 'counters'> & {
  hangMs: number
  /** The threads end when there has been nothing to do for this long. */
  restMs: number
  /** Replaces the real threads; for tests. */
  createThreads?: typeof createThreads
  clock?: () => number
}

/** A task and how its answer is read. */
type ComposingTask<Output> = {
  ask(task: number): ToThread
  /** Returns undefined for messages that do not answer. @throws Error if the task failed */
  read(message: FromThread): { result: Output } | undefined
  /** How much longer than usual the task may take. */
  extraMs?: number
}

export type ThreadTasks = {
  /**
   * Resolves to undefined for a task that ended its thread. Rejects if the task failed, while shutting
   * down, and as `Turns.take` (`turns/turns.ts`).
   */
  run<Output>(task: ComposingTask<Output>): Promise<{ result: Output } | undefined>
  waiting: Turns['waiting']
  stop(): Promise<void>
}

type Current = {
  number: number
  task: ComposingTask<unknown>
  settled: PromiseWithResolvers<{ result: unknown } | undefined>
}

const THREADS = 2

export function createThreadTasks({
  hangMs,
  restMs,
  clock,
  ...deps
}: ThreadTasksDeps): ThreadTasks {
  const threads = (deps.createThreads ?? createThreads)({
    ...deps,
    name: 'composing',
    maxThreads: THREADS,
    hangMs: (number) => hangMs + extraMsOf(number),
    received,
    ended,
  })
  const turns = createTurns({
    ...RENDERING_LIMITS,
    atOnce: THREADS,
    atOncePerProject: 1,
    ...(clock && { clock }),
  })
  const busy = new Map<DeliveryThread, Current>()
  let lastNumber = 0
  let timer: NodeJS.Timeout | undefined

  function extraMsOf(number: number): number {
    const current = [...busy.values()].find((each) => each.number === number)
    return current?.task.extraMs ?? 0
  }

  async function run<Output>(task: ComposingTask<Output>): Promise<{ result: Output } | undefined> {
    clearTimeout(timer)
    const settled = Promise.withResolvers<{ result: unknown } | undefined>()
    begin({ number: ++lastNumber, task, settled })
    try {
      return (await settled.promise) as { result: Output } | undefined
    } finally {
      clearTimeout(timer)
      if (busy.size === 0) timer = setTimeout(threads.endAll, restMs).unref()
    }
  }

  function begin(current: Current): void {
    const thread = threads.list().find((each) => !busy.has(each)) ?? threads.start()
    if (thread === undefined) {
      current.settled.reject(new Error('there is no thread for the task'))
      return
    }
    // A task that cannot be sent leaves the thread free.
    thread.postMessage(current.task.ask(current.number))
    busy.set(thread, current)
  }

  function received(thread: DeliveryThread, message: FromThread): void {
    const current = busy.get(thread)
    if (current === undefined) return
    try {
      const read = current.task.read(message)
      if (read === undefined) return
      current.settled.resolve(read)
    } catch (error) {
      current.settled.reject(error)
    }
    busy.delete(thread)
  }

  function ended(thread: DeliveryThread, { hasStarted }: ThreadEnd): void {
    const current = busy.get(thread)
    if (current === undefined) return
    busy.delete(thread)
    if (hasStarted) current.settled.resolve(undefined)
    else begin(current)
  }

  return {
    run: (task) => turns.take(() => run(task)),
    waiting: turns.waiting,
    async stop() {
      turns.stop(shutdownError())
      for (const { settled } of busy.values()) settled.reject(shutdownError())
      busy.clear()
      clearTimeout(timer)
      threads.endAll()
      await threads.stop(0)
      clearTimeout(timer)
    },
  }
}
