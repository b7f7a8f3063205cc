/** Finds the existing name that an unknown name may be a misspelling of. */

/** The candidate with the fewest changes, if these are few for the length of `name`. */
export function findClosest(name: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, changes: countChanges(name, candidate) }))
    .sort((left, right) => left.changes - right.changes)
  const [best] = ranked
  if (best === undefined) return undefined
  // Two changes turn any name of two letters into any other.
  const shorter = Math.min(name.length, best.candidate.length)
  const limit = Math.min(Math.max(2, Math.floor(name.length / 4)), shorter - 1)
  return best.changes <= limit ? best.candidate : undefined
}

/** The Levenshtein distance. */
function countChanges(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next[j] = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1)
    }
    row = next
  }
  return row[to.length] ?? 0
}
