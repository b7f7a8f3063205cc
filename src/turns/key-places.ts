/**
 * Places for what is open at the same time, such as connections: a limited number in all, and for each key,
 * so that no key takes all. Places are only counted, and nobody waits for a place: `turns.ts` has lines for
 * work that waits.
 */

export type KeyPlaces = {
  /** Whether the key has as many places as a key may have. */
  isKeyFull(key: string): boolean
  /** Whether at most `kept` places are free. */
  isFull(kept?: number): boolean
  /**
   * Takes a place, also beyond the limits: a caller who must keep them asks first. Returns a function that
   * gives the place back; further calls of it do nothing.
   */
  take(key: string): () => void
}

/** `all`: the number of all places; unlimited if absent. */
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
