/**
 * The order of scans. Each project has a line and the lines are served in turn, so that a project
 * with many scans delays mostly itself. Scans of jobs have lines of their own behind those of
 * requests: one is taken when no request waits, or after a few requests, so that requests cannot
 * stop all jobs.
 */
import { createRoundRobin } from './round-robin.ts'

/**
 * The request or the run of a job that a scan belongs to. Each request and each run has its own
 * object.
 */
export type ScanCaller = {
  /** The line: a project's id. */
  key: string
  isJob: boolean
}

type ScanQueue<Scan> = {
  add(caller: ScanCaller, scan: Scan): void
  /** Removes and returns the next scan. */
  take(mayBeJob: boolean): Scan | undefined
  /** The length of the caller's line. */
  countWaiting(caller: ScanCaller): number
}

const REQUESTS_PER_JOB = 4

export function createScanQueue<Scan>(): ScanQueue<Scan> {
  const requests = createRoundRobin<Scan>()
  const jobs = createRoundRobin<Scan>()
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
