/**
 * The order of scans. Each project has a line and the lines are served in turn, so that a project
 * with many scans delays mostly itself. Scans of jobs have lines of their own behind those of
 * requests: one is taken when no request waits, or after a few requests, so that requests cannot
 * stop all jobs.
 */
import type { WorkOwner } from '../../turns/owner.ts'
import { createRoundRobin } from './round-robin.ts'

type ScanQueue<Scan> = {
  add(owner: WorkOwner, scan: Scan): void
  /** Removes and returns the next scan. */
  take(mayBeJob: boolean): Scan | undefined
  /** The length of all lines. */
  countAll(): number
  /** The length of the owner's line. */
  countWaiting(owner: WorkOwner): number
  /** Removes and returns all scans for which `isOver` is true. */
  takeOut(isOver: (scan: Scan) => boolean): Scan[]
}

const REQUESTS_PER_JOB = 4

export function createScanQueue<Scan>(): ScanQueue<Scan> {
  const requests = createRoundRobin<Scan>()
  const jobs = createRoundRobin<Scan>()
  let passedOver = 0
  const linesOf = ({ isJob }: WorkOwner) => (isJob ? jobs : requests)

  return {
    add: (owner, scan) => linesOf(owner).add(owner.key, scan),
    take(mayBeJob) {
      if (!mayBeJob || jobs.isEmpty()) return requests.take()
      const isJob = requests.isEmpty() || passedOver === REQUESTS_PER_JOB
      passedOver = isJob ? 0 : passedOver + 1
      return (isJob ? jobs : requests).take()
    },
    countAll: () => requests.countAll() + jobs.countAll(),
    takeOut: (isOver) => [...requests.takeOut(isOver), ...jobs.takeOut(isOver)],
    countWaiting: (owner) => linesOf(owner).count(owner.key),
  }
}
