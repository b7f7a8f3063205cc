/** The parts of a bar that shows a whole. */

/** The part of each value of the whole, in percent; an empty list for a whole of nothing. */
export function layoutShares(values: readonly number[]): { start: number; size: number }[] {
  const whole = values.reduce((sum, value) => sum + value, 0)
  if (whole === 0) return []
  let start = 0
  return values.map((value) => {
    const size = (100 * value) / whole
    const share = { start, size }
    start += size
    return share
  })
}
