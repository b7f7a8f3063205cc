/**
 * In a delivery thread: how many bytes of made messages wait for their receivers. Beyond the limit
 * the next large message is made only when one has gone, so that attachments on many connections
 * do not fill the memory. Small ones have room at any time: all connections together hold few bytes
 * of them.
 */
export type HeldBytes = {
  /** Resolves when there is room for a message of such a content; null when there is some now. */
  waitForRoom(contentBytes: number): Promise<void> | null
  hold(bytes: number): void
  release(bytes: number): void
}

const SMALL_BYTES = 64 * 1024

export function createHeldBytes(maxBytes: number): HeldBytes {
  let held = 0
  const waiting: (() => void)[] = []
  return {
    waitForRoom(contentBytes) {
      if (contentBytes <= SMALL_BYTES || held < maxBytes) return null
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
