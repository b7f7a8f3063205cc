/**
 * Places for what is open at the same time, such as connections: so many in all, and so many of one key, so
 * that no key takes all. They are counted: nobody waits for one. What waits has `turns.ts`.
 */

export type KeyPlaces = {
  /** Whether the key has as many places as one key may. */
  isKeyFull(key: string): boolean
  /** Whether all places are taken, but for `kept` at the most. */
  isFull(kept?: number): boolean
  /**
   * Takes a place. Whoever must not exceed the limits asks first. Returns what gives the place back: once,
   * however often it is called.
   */
  take(key: string): () => void
}

/** `all`: any number if absent. */
type PlaceLimits = { perKey: number; all?: number }

export function createKeyPlaces({
  perKey,
  all = Number.POSITIVE_INFINITY,
}: PlaceLimits): KeyPlaces {
  const taken = new Map<string, number>()
  let total = 0

  function count(key: string, change: number): void {
    const sum = (taken.get(key) ?? 0) + change
    total += change
    if (sum === 0) taken.delete(key)
    else taken.set(key, sum)
  }

  return {
    isKeyFull: (key) => (taken.get(key) ?? 0) >= perKey,
    isFull: (kept = 0) => total >= all - kept,
    take(key) {
      count(key, 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        count(key, -1)
      }
    },
  }
}
