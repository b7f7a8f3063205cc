const firstDelayMs = 60_000
const maxDelayMs = 3_600_000

/**
 * How long to wait after the `attempts`-th failure: a minute, doubling up to an hour, each a
 * quarter shorter or longer at random, so that jobs that failed together do not return together.
 */
export function retryDelayMs(attempts: number, random: () => number = Math.random): number {
  const delayMs = Math.min(firstDelayMs * 2 ** Math.max(0, attempts - 1), maxDelayMs)
  return Math.round(delayMs * (0.75 + random() / 2))
}
