/** The order of work that a job does for all projects: many items of one project do not delay those of others. */

/** Returns the items so that keys alternate: the first items of all keys in order, then their second ones, and so on. */
export function alternate<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): readonly Item[] {
  const counts = new Map<string, number>()
  const rounds: Item[][] = []
  for (const item of items) {
    const key = keyOf(item)
    const round = counts.get(key) ?? 0
    counts.set(key, round + 1)
    rounds[round] ??= []
    rounds[round].push(item)
  }
  return rounds.flat()
}
