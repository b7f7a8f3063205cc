/** The rows of the report: what was measured beside the limits of the budgets. */
import { median, percentile, printTable, show } from '../table.ts'

/** `value` is judged by `limit`, if there is one; `more` explains it. */
export type Measure = {
  name: string
  value: number
  unit: string
  limit?: number
  more?: string
  digits?: number
}

export function printMeasures(measures: readonly Measure[]): boolean {
  const width = Math.max(...measures.map(({ more = '' }) => more.length))
  const isMet = ({ value, limit = Number.POSITIVE_INFINITY }: Measure) => value <= limit
  printTable([
    ['measure', 'measured', 'limit', 'ok', ''],
    ...measures.map((measure) => {
      const { name, value, unit, limit, more = '', digits = 0 } = measure
      const verdict = limit === undefined ? '' : isMet(measure) ? 'yes' : 'NO'
      const shownLimit = limit === undefined ? '' : `${limit} ${unit}`
      return [name, `${show(value, digits)} ${unit}`, shownLimit, verdict, more.padEnd(width)]
    }),
  ])
  return measures.every(isMet)
}

/** The median of times, with the least: other work on the machine only adds to them. */
export function medianOf(name: string, times: readonly number[], limit?: number): Measure {
  return {
    ...{ name, value: median(times), unit: 'ms', ...(limit !== undefined && { limit }) },
    more: `median of ${times.length}, least ${show(Math.min(...times))}`,
  }
}

/** The 95th percentile of times, with the median. */
export function p95Of(name: string, times: readonly number[], limit?: number): Measure {
  const [digits, middle] = [1, show(median(times), 1)]
  return {
    ...{ name, value: percentile(times, 0.95), unit: 'ms', digits },
    ...(limit !== undefined && { limit }),
    more: `p95 of ${times.length}, median ${middle}`,
  }
}
