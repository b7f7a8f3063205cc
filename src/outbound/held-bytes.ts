/**
 * In a delivery thread: how many bytes of made messages wait for their receivers. Beyond the limit
 * the next message is made only when one has gone, so that large attachments on many connections
 * do not fill the memory.
 */
export type HeldBytes = {
  /** Resolves when there is room; null when there is some now. */
  waitForRoom(): Promise<void> | null
  hold(bytes: number): void
  release(bytes: number): void
}

export function createHeldBytes(maxBytes: number): HeldBytes {
  let held = 0
  const waiting: (() => void)[] = []
  return {
    waitForRoom() {
      if (held < maxBytes) return null
      return new Promise((resolve) => waiting.push(resolve))
    },
    hold(bytes) {
      held += bytes
    },
    release(bytes) {
      held -= bytes
      while (held < maxBytes && waiting.length > 0) {
        waiting.shift()?.()
        // Each makes its message in a later turn: let one in at a time while there is little room.
        if (held > maxBytes / 2) return
      }
    },
  }
}
