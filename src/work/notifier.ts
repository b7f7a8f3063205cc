/**
 * Wakes a loop when there is work. Notify after the commit, so that the row is visible
 * (`tx.afterCommit(() => jobNotifier.notify())`). A notification without listeners is no error: each
 * loop checks for work when it starts.
 */

/** `Notice`: what the loop is told; nothing by default. */
export type Notifier<Notice = void> = {
  notify(notice: Notice): void
  /** Returns a function that removes the listener. */
  listen(listener: (notice: Notice) => void): () => void
}

export function createNotifier<Notice = void>(): Notifier<Notice> {
  const listeners = new Set<(notice: Notice) => void>()
  return {
    notify(notice) {
      for (const listener of listeners) listener(notice)
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
