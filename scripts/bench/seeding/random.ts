/** Reproducible random numbers. */

/** A number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number

/** Marsaglia's xorshift on 32 bits. `seed`: any integer but 0. */
export function createRandom(seed: number): Random {
  let state = seed | 0
  if (state === 0) throw new TypeError('A seed of 0 gives nothing but zeros.')
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 0x1_0000_0000
  }
}

/** Returns each value with a frequency according to its weight. */
export function createChoice<T>(
  random: Random,
  weighted: readonly (readonly [value: T, weight: number])[],
): () => T {
  const total = weighted.reduce((sum, [, weight]) => sum + weight, 0)
  const values = weighted.map(([value]) => value)
  const ends: number[] = []
  for (const [, weight] of weighted) ends.push((ends.at(-1) ?? 0) + weight / total)
  return () => {
    const at = random()
    const index = ends.findIndex((end) => at < end)
    return values[index === -1 ? values.length - 1 : index] as T
  }
}

/** Picks one of `values`; a `power` above 1 prefers the first ones. */
export function pick<T>(random: Random, values: readonly T[], power = 1): T {
  return values[Math.floor(values.length * random() ** power)] as T
}

/** UUIDv7 for given instants (epoch milliseconds); the ids sort like the instants. */
export function createIds(random: Random): (at: number) => string {
  const hex = (digits: number) =>
    Math.floor(random() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0')
  return (at) => {
    const time = Math.floor(at).toString(16).padStart(12, '0')
    const variant = '89ab'[Math.floor(random() * 4)]
    return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-${variant}${hex(3)}-${hex(8)}${hex(4)}`
  }
}
