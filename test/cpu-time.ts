import assert from 'node:assert/strict'
import { pause } from './pause.ts'

/**
 * Runs `work`, which must be synchronous, and asserts that it costs this thread less processor time than
 * `maxMs`. Other programs on the machine do not prolong this time. The bound is far above the cost of
 * linear work, and far below the cost of quadratic work.
 */
export function withinCpuMs<T>(maxMs: number, work: () => T, name = 'the work'): T {
  const before = process.threadCpuUsage()
  const result = work()
  assertWithin(maxMs, before, name)
  return result
}

/** As `withinCpuMs`; whatever else the thread does until the work has ended counts, too. */
export async function asyncWithinCpuMs<T>(
  maxMs: number,
  work: () => Promise<T>,
  name: string,
): Promise<T> {
  const before = process.threadCpuUsage()
  const result = await work()
  assertWithin(maxMs, before, name)
  return result
}

/**
 * The most processor time of this thread between two looks, of which each takes a turn of the event loop,
 * until `work` is settled. A synchronous call of a second is seen, also beside other programs.
 */
export async function longestCallMs(work: Promise<unknown>): Promise<number> {
  let isOver = false
  const end = () => {
    isOver = true
  }
  work.then(end, end)
  let longest = 0
  while (!isOver) {
    const before = process.threadCpuUsage()
    await pause()
    const { user, system } = process.threadCpuUsage(before)
    longest = Math.max(longest, (user + system) / 1_000)
  }
  await work
  return longest
}

function assertWithin(maxMs: number, before: NodeJS.CpuUsage, name: string): void {
  const { user, system } = process.threadCpuUsage(before)
  const tookMs = Math.round((user + system) / 1_000)
  assert.ok(tookMs < maxMs, `${name} took ${tookMs} ms of processor time`)
}
