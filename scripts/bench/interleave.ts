/** Slices of several subjects in turn, and the table of what they cost. */
import { firstQuartile, median, show } from './table.ts'

const SLICES = 10

/**
 * Measures each subject `SLICES` times, in the order A B, B A, A B … so that a slow minute of the machine
 * falls on all of them. Returns the figures of each.
 */
export async function interleave<Subject, Figure>(
  subjects: readonly Subject[],
  measure: (subject: Subject) => Promise<Figure>,
  slices = SLICES,
): Promise<Figure[][]> {
  const figures: Figure[][] = subjects.map(() => [])
  for (let slice = 0; slice < slices; slice += 1) {
    const order = [...subjects.keys()]
    if (slice % 2 === 1) order.reverse()
    for (const index of order) {
      figures[index]?.push(await measure(subjects[index] as Subject))
    }
  }
  return figures
}

/** Rows with median, first quartile and all slices; with `after`, those of both and the difference. */
export function costTable(
  head: string,
  before: readonly number[],
  after?: readonly number[],
): string[][] {
  const row = (name: string, costs: readonly number[]) => [
    name,
    show(median(costs), 1),
    show(firstQuartile(costs), 1),
    costs.map((cost) => show(cost, 1)).join(' '),
  ]
  const titles = [head, 'median', 'first quartile', 'slices']
  if (after === undefined) return [titles, row('all threads', before)]
  const more = (of: (costs: readonly number[]) => number) =>
    show(100 * (of(after) / of(before) - 1), 1)
  return [
    ...[titles, row('before', before), row('after', after)],
    ['more, %', more(median), more(firstQuartile), ''],
  ]
}
