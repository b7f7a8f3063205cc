/**
 * After this time a test says that what it waits for never came. On a machine that is busy with other work
 * a process takes a minute to start, so the time is long; a test that passes never spends it.
 */
export const PATIENCE_MS = 240_000

/** Longer than a test waits: what depends on the end of this time never comes. */
export const NEVER_MS = 2 * PATIENCE_MS

/** For a group of tests that use programs whose answer may never come. */
export const GROUP_MS = 5 * PATIENCE_MS

/** Rejects when `awaited` is not settled in time. */
export async function inTime<T>(awaited: Promise<T>, name: string): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`${name} never came`)), PATIENCE_MS)
  try {
    return await Promise.race([awaited, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
