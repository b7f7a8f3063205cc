/**
 * The newest result of a scan whose cost grows with the database. The first scrape waits for the first result, so
 * that it has every figure; later ones wait a moment for a new result, and else take the one before, or go without.
 * Scans follow each other only after so many times as long as the last one took, so a large queue costs the scan
 * threads a fixed share of their time, however often somebody scrapes.
 */
import { runFor, SYSTEM } from '../../../turns/owner.ts'

const WAIT_MS = 25
/** Less than the time after which any usual collector gives a scrape up. */
const FIRST_WAIT_MS = 2_000
/** The rest after a scan, in times of its duration. */
const REST_TIMES = 50

export type RecentOptions = {
  /** How long a read waits for a new result, once there has been one. */
  waitMs?: number
  /** How long the first reads wait for the first result, from the first of them on. */
  firstWaitMs?: number
  /** For tests: ms. */
  clock?: () => number
}

/** Undefined after a scan that failed, and while the first one takes longer than a read waits. */
export type Recent<Result> = () => Promise<Result | undefined>

export function createRecent<Result>(
  scan: () => Promise<Result>,
  {
    waitMs = WAIT_MS,
    firstWaitMs = FIRST_WAIT_MS,
    clock = () => performance.now(),
  }: RecentOptions = {},
): Recent<Result> {
  let result: Result | undefined
  let isFirst = true
  let firstPause: Promise<void> | undefined
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
    isFirst = false
    nextAt = clock() + REST_TIMES * (clock() - from)
    running = undefined
  }

  return async () => {
    if (running === undefined && clock() >= nextAt) running = runFor(SYSTEM, refresh)
    if (running === undefined) return result
    if (isFirst) firstPause ??= pause(firstWaitMs)
    // Once over, the first pause is none: a read of that time waits as the later ones do.
    const pauses = [isFirst ? firstPause : undefined, pause(waitMs)]
    await Promise.race([running, Promise.all(pauses)])
    return result
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
