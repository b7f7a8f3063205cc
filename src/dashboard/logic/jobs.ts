/** What the tray says about the jobs of a project. */

export type Job = {
  id: string
  state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled' | 'delayed'
}

const ENDED: ReadonlySet<Job['state']> = new Set(['completed', 'failed', 'cancelled'])

const FIRST_MS = 1_000
const SLOWEST_MS = 5_000
/** While nothing runs, a job of another person is noticed at this pace. */
const IDLE_MS = 30_000

export function isEnded({ state }: Job): boolean {
  return ENDED.has(state)
}

/** Jobs that ended between two answers. At the first answer none has: what ended before is no news. */
export function findEnded<One extends Job>(
  before: readonly One[] | undefined,
  now: readonly One[],
): One[] {
  if (before === undefined) return []
  const running = new Set(before.filter((job) => !isEnded(job)).map(({ id }) => id))
  return now.filter((job) => isEnded(job) && running.has(job.id))
}

/** What the label of a job names, such as a file. The words of the server have it after the first three. */
export function nameInLabel(label: string): string {
  return label.split(' ').slice(3).join(' ')
}

/** The delay until the next request: longer with each that found the same work going on. */
export function jobDelay(jobs: readonly Job[], asked: number): number {
  if (!jobs.some((job) => !isEnded(job))) return IDLE_MS
  return Math.min(SLOWEST_MS, FIRST_MS * 1.5 ** asked)
}
