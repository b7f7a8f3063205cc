/** Use is counted by the calendar month, in UTC. */

/** The beginning of the month of an instant (epoch ms). */
export function monthOf(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

/** The beginning of the next month (epoch ms). */
export function nextMonthOf(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}
