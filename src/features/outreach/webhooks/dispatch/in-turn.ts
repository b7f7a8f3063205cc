/** Alternates between two lists. */
export function inTurn<T>(one: readonly T[], other: readonly T[]): T[] {
  const length = Math.max(one.length, other.length)
  return Array.from({ length }, (_, index) => [one[index], other[index]])
    .flat()
    .filter((item) => item !== undefined)
}
