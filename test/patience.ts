/**
 * After this time a test says that what it waits for never came. On a machine that is busy with other work
 * a process takes a minute to start, so the time is long; a test that passes never spends it.
 */
export const PATIENCE_MS = 240_000
