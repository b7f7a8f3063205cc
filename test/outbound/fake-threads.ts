/** Fake threads: a test reads the messages to them and replies in their place. */

import type { DeliveryThread, FromThread, ToThread } from '../../src/outbound/protocol.ts'
import type { ThreadEnd, Threads, ThreadsOptions } from '../../src/outbound/threads.ts'

export type FakeThread = DeliveryThread & {
  posted: ToThread[]
  say(message: FromThread): void
  end(words?: Partial<ThreadEnd>): void
}

export function createFakeThreads() {
  const running: FakeThread[] = []
  /** All started threads. */
  const started: FakeThread[] = []
  let rests = 0

  function createThreads(options: ThreadsOptions): Threads {
    function start(): FakeThread | undefined {
      if (running.length >= options.maxThreads) return undefined
      const posted: ToThread[] = []
      const thread: FakeThread = {
        posted,
        postMessage: (message) => void posted.push(message),
        say: (message) => options.received(thread, message),
        end(words = {}) {
          running.splice(running.indexOf(thread), 1)
          const accepted = new Set<number>()
          const last = { composing: 0, accepted, hasStarted: true, reason: 'crashed' }
          options.ended(thread, { ...last, ...words })
        },
      }
      running.push(thread)
      started.push(thread)
      return thread
    }
    function endAll(): void {
      rests += 1
      running.splice(0)
    }
    return { list: () => running, start, endAll, stop: async () => endAll() }
  }

  return { createThreads, started, rests: () => rests }
}

/** Returns the tasks of a thread, in order. */
export function tasksOf(thread: FakeThread | undefined) {
  return (thread?.posted ?? []).flatMap((message) => (message.type === 'work' ? message.tasks : []))
}
