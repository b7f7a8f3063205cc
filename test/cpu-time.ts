import assert from 'node:assert/strict'

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

function assertWithin(maxMs: number, before: NodeJS.CpuUsage, name: string): void {
  const { user, system } = process.threadCpuUsage(before)
  const tookMs = Math.round((user + system) / 1_000)
  assert.ok(tookMs < maxMs, `${name} took ${tookMs} ms of processor time`)
}
