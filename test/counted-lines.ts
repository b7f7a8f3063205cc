/** The lines of a counter that have counted something: lines of 0 only say which there may be. */
import type { Counters } from '../src/base/counters.ts'
import type { CounterName } from '../src/base/metric-texts.ts'

export function countedLines(
  { counters }: { counters: Pick<Counters, 'lines'> },
  name: CounterName,
): ReturnType<Counters['lines']> {
  return counters.lines(name).filter(({ count }) => count > 0)
}
