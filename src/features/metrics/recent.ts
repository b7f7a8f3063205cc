/**
 * The newest result of a scan whose cost grows with the database. A scrape waits a moment for a new result,
 * and else takes the one before. Scans follow each other only after so many times as long as the last one took,
 * so a large queue costs the scan threads a fixed share of their time, however often somebody scrapes.
 */
import { runFor, SYSTEM } from '../../turns/owner.ts'

const WAIT_MS = 25
/** The rest after a scan, in times of its duration. */
const REST_TIMES = 50

export type RecentOptions = {
  /** How long a read waits for a new result. */
  waitMs?: number
  /** For tests: ms. */
  clock?: () => number
}

/** Undefined while there is no result yet, and after a scan that failed. */
export type Recent<Result> = () => Promise<Result | undefined>

export function createRecent<Result>(
  scan: () => Promise<Result>,
  { waitMs = WAIT_MS, clock = () => performance.now() }: RecentOptions = {},
): Recent<Result> {
  let result: Result | undefined
  let running: Promise<void> | undefined
  let nextAt = Number.NEGATIVE_INFINITY

  async function refresh(): Promise<void> {
    const from = clock()
    try {
      result = await scan()
    } catch {
      // The database cannot be read, which other metrics tell; an old figure would be wrong.
      result = undefined
    }
    nextAt = clock() + REST_TIMES * (clock() - from)
    running = undefined
  }

  return async () => {
    if (running === undefined && clock() >= nextAt) running = runFor(SYSTEM, refresh)
    if (running !== undefined) await Promise.race([running, pause(waitMs)])
    return result
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
