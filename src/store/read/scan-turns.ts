/**
 * Whose scan is next. Each project has a line of its own and the lines take turns, so that a flood of
 * one delays mostly itself. Jobs stand behind requests, in lines of their own: one of theirs is taken
 * when no request waits, or when they were passed over a few times, so that no flood stops them.
 */
import { createLines } from './lines.ts'

/** Who asks, for as long as it asks: one object a request or run of a job. */
export type ScanCaller = {
  /** Whose line it stands in: a project's id. */
  key: string
  isJob: boolean
}

export type ScanTurns<Scan> = {
  add(caller: ScanCaller, scan: Scan): void
  /** The next one, if any waits that may be taken. */
  take(mayBeJob: boolean): Scan | undefined
  /** How many wait in the line where the caller would stand. */
  countWaiting(caller: ScanCaller): number
}

const REQUESTS_PER_JOB = 4

export function createScanTurns<Scan>(): ScanTurns<Scan> {
  const requests = createLines<Scan>()
  const jobs = createLines<Scan>()
  let passedOver = 0
  const linesOf = ({ isJob }: ScanCaller) => (isJob ? jobs : requests)

  return {
    add: (caller, scan) => linesOf(caller).add(caller.key, scan),
    take(mayBeJob) {
      if (!mayBeJob || jobs.isEmpty()) return requests.take()
      const isJob = requests.isEmpty() || passedOver === REQUESTS_PER_JOB
      passedOver = isJob ? 0 : passedOver + 1
      return (isJob ? jobs : requests).take()
    },
    countWaiting: (caller) => linesOf(caller).count(caller.key),
  }
}
