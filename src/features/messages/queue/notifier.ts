/**
 * How those who make mail due tell the queue: after their commit, with where and when, so that it
 * need not search. Ringing while nobody listens is no error: a queue looks for itself when it starts.
 */
import type { QueueClass } from '../../../store/schema/words.ts'

/** Where mail waits for its turn: what one project has for one recipient domain (A-label). */
export type QueueLane = { queueClass: QueueClass; domain: string; projectId: string }

/** Mail is due in a lane; somewhere, one does not know where; or a site can take more again. */
export type QueueCall = (QueueLane & { dueAt: number }) | 'anywhere' | 'capacity'

export type QueueBell = {
  ring(call: QueueCall): void
  listen(listener: (call: QueueCall) => void): () => void
}

export function createQueueBell(): QueueBell {
  const listeners = new Set<(call: QueueCall) => void>()
  return {
    ring: (call) => {
      for (const listener of listeners) listener(call)
    },
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
