/**
 * Wakes a loop when there is work. Notify after the commit, so that the row is visible
 * (`tx.afterCommit(() => jobNotifier.notify())`). A notification without listeners is no error: each
 * loop checks for work when it starts.
 */

export type Notifier = {
  notify(): void
  /** Returns a function that removes the listener. */
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
