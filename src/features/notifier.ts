/**
 * How one part tells another that something waits for it: after the commit, so that the row is
 * there (`tx.afterCommit(() => queueNotifier.notify())`). Ringing while nobody listens is no error: whoever
 * does the work looks for itself when it starts.
 */

export type Notifier = {
  notify(): void
  /** The function returned ends it. */
  listen(listener: () => void): () => void
}

export function createNotifier(): Notifier {
  const listeners = new Set<() => void>()
  return {
    notify() {
      for (const listener of listeners) listener()
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
