/** The lines of a counter that have counted something: lines of 0 only say which there may be. */
import type { CounterName, Counters } from '../src/base/counters.ts'

export function countedLines(
  { counters }: { counters: Pick<Counters, 'lines'> },
  name: CounterName,
): ReturnType<Counters['lines']> {
  return counters.lines(name).filter(({ count }) => count > 0)
}
