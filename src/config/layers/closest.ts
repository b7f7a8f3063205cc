/**
 * Finds the existing name that an unknown name may be a misspelling of. The names may be a request's, and the
 * candidates a project's: a comparison stops where it cannot find anything nearer, and all comparisons of a
 * request share one `Effort`.
 */

/** The pairs of letters that may still be compared, at 5 to 30 ns each. At 0 no name is found. */
export type Effort = { pairs: number }

const MAX_PAIRS = 1_000_000

/** The effort for all names of one request. */
export function newEffort(): Effort {
  return { pairs: MAX_PAIRS }
}

/** The candidate that needs the fewest changes, if their number is small for the length of `name`. */
export function findClosest(
  name: string,
  candidates: readonly string[],
  effort?: Effort,
): string | undefined {
  const few = Math.max(2, Math.floor(name.length / 4))
  // Two changes turn any name of two letters into any other.
  const limitOf = ({ length }: string) => Math.min(few, Math.min(name.length, length) - 1)
  return findNearest(name, candidates, { limitOf, effort })
}

type Search = {
  /** How many changes a candidate may need at most; -1 leaves the candidate out. */
  limitOf: (candidate: string) => number
  /** The form of a candidate that is compared with the name. */
  plain?: (candidate: string) => string
  effort?: Effort | undefined
}

/** The first of the candidates with the fewest changes; undefined if each needs more than its limit. */
export function findNearest(
  name: string,
  candidates: readonly string[],
  { limitOf, plain = (candidate) => candidate, effort = newEffort() }: Search,
): string | undefined {
  let nearest: string | undefined
  let below = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    if (effort.pairs <= 0 || below === 0) break
    effort.pairs -= 1
    const limit = Math.min(limitOf(candidate), below - 1)
    if (Math.abs(candidate.length - name.length) > limit) continue
    const changes = countChanges(name, plain(candidate), { limit, effort })
    if (changes > limit) continue
    nearest = candidate
    below = changes
  }
  return nearest
}

/** The Levenshtein distance; infinite beyond `limit`, and where the effort ends. */
function countChanges(
  from: string,
  to: string,
  { limit, effort }: { limit: number; effort: Effort },
): number {
  let row = Uint32Array.from({ length: to.length + 1 }, (_, index) => index)
  let next = new Uint32Array(row.length)
  for (let i = 1; i <= from.length; i += 1) {
    effort.pairs -= to.length
    if (effort.pairs <= 0) return Number.POSITIVE_INFINITY
    const letter = from.charCodeAt(i - 1)
    let fewest = i
    next[0] = i
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (letter === to.charCodeAt(j - 1) ? 0 : 1)
      const changes = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1)
      next[j] = changes
      if (changes < fewest) fewest = changes
    }
    if (fewest > limit) return Number.POSITIVE_INFINITY
    ;[row, next] = [next, row]
  }
  return row[to.length] ?? 0
}
