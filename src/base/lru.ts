import { LRUCache } from 'lru-cache'

export type Lru<Value extends {}> = LRUCache<string, Value>

type LruOptions<Value> = {
  /** How much an entry counts towards `max`: a positive integer; 1 if absent. */
  sizeOf?: (value: Value, key: string) => number
  /** An entry is forgotten this long after it was set. */
  ttlMs?: number
}

/**
 * A map that forgets the entries whose last use is longest ago. `max`: the number of entries, or the sum of
 * their `sizeOf`. The memory grows with the entries: `max` of lru-cache would allocate for all of them at
 * once, which takes 17 ms for 100,000.
 */
export function createLru<Value extends {}>(
  max: number,
  { sizeOf = () => 1, ttlMs = 0 }: LruOptions<Value> = {},
): Lru<Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: sizeOf, ttl: ttlMs })
}
