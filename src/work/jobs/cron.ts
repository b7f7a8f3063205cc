import { Cron } from 'croner'
import { describeError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'

export type CronEntry = {
  /** The name of the entry, unique among all entries. */
  name: string
  /** Five or six fields, in UTC. */
  schedule: string
  /** The kind of job that a tick enqueues. */
  kind: string
  payload?: unknown
}

/** The start of the unique keys of ticks, before the names of their entries. */
export const TICK_PREFIX = 'cron:'

type Deps = { log: Log; tick(entry: CronEntry): Promise<void> }

/** Calls `tick` at the times of each entry. @throws TypeError for an invalid schedule */
export function startCron({ log, tick }: Deps, entries: readonly CronEntry[]): { stop(): void } {
  const timers = entries.map((entry) => {
    const logLostTick = (error: unknown) =>
      log.error({ error: describeError(error), cron: entry.name }, 'a cron tick was lost')
    const options = { timezone: 'UTC', catch: logLostTick, unref: true, paused: true }
    return new Cron(entry.schedule, options, () => tick(entry))
  })
  // No entry starts before all schedules have been parsed.
  for (const timer of timers) timer.resume()
  return {
    stop: () => {
      for (const timer of timers) timer.stop()
    },
  }
}
