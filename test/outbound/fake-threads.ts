/** Threads that do nothing by themselves: a test sees what they are told, and speaks for them. */

import type {
  DeliveryThread,
  LastWords,
  Threads,
  ThreadsOptions,
} from '../../src/outbound/dispatch/threads.ts'
import type { FromThread, ToThread } from '../../src/outbound/protocol.ts'

export type FakeThread = DeliveryThread & {
  posted: ToThread[]
  say(message: FromThread): void
  end(words?: Partial<LastWords>): void
}

export function createFakeThreads() {
  const running: FakeThread[] = []
  /** All that were started. */
  const started: FakeThread[] = []
  let rests = 0

  function createThreads(options: ThreadsOptions): Threads {
    function start(): FakeThread | undefined {
      if (running.length >= options.maxThreads) return undefined
      const posted: ToThread[] = []
      const thread: FakeThread = {
        number: started.length + 1,
        posted,
        post: (message) => void posted.push(message),
        say: (message) => options.received(thread, message),
        end(words = {}) {
          running.splice(running.indexOf(thread), 1)
          const last = { culprit: 0, taken: new Set<number>(), hasStarted: true, reason: 'crashed' }
          options.ended(thread, { ...last, ...words })
        },
      }
      running.push(thread)
      started.push(thread)
      return thread
    }
    function rest(): void {
      rests += 1
      running.splice(0)
    }
    return { list: () => running, start, rest, stop: async () => rest() }
  }

  return { createThreads, started, rests: () => rests }
}

/** The tasks that the thread was given, in order. */
export function tasksOf(thread: FakeThread | undefined) {
  return (thread?.posted ?? []).flatMap((message) => (message.type === 'work' ? message.tasks : []))
}
