/**
 * How the listener tells whoever reads inbound mail that some was kept: after the commit, so that
 * the row is there. Ringing while nobody listens is no error: a reader looks for itself when it
 * starts.
 */

export type Inbox = {
  ring(): void
  /** The function returned ends it. */
  listen(listener: () => void): () => void
}

export function createInbox(): Inbox {
  const listeners = new Set<() => void>()
  return {
    ring() {
      for (const listener of listeners) listener()
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
