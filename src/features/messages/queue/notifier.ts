/**
 * How those who make mail due tell the queue: after their commit, with where and when, so that it
 * need not search. Ringing while nobody listens is no error: a queue looks for itself when it starts.
 */
import type { QueueClass } from '../../../queue-class.ts'

/** Where mail waits for its turn: what one project has for one recipient domain (A-label). */
export type QueueLane = { queueClass: QueueClass; domain: string; projectId: string }

/** Mail is due in a lane; somewhere, one does not know where; or a site can take more again. */
export type QueueNotice = (QueueLane & { dueAt: number }) | 'anywhere' | 'capacity'

export type QueueNotifier = {
  notify(call: QueueNotice): void
  listen(listener: (call: QueueNotice) => void): () => void
}

export function createQueueNotifier(): QueueNotifier {
  const listeners = new Set<(call: QueueNotice) => void>()
  return {
    notify: (call) => {
      for (const listener of listeners) listener(call)
    },
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
