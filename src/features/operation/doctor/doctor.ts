/**
 * The checks in the server: a minute after the start, then hourly, and on request. One run at a time;
 * a request during a run waits for it, and a run that is less than a minute old is fresh enough.
 *
 * A check that gets worse is logged once with its fix, and once when it is well again. `/health` is
 * degraded while a check has failed.
 */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../base/clock.ts'
import { describeError } from '../../../base/errors.ts'
import { runFor, SYSTEM_OWNER } from '../../../turns/owner.ts'
import { type Loop, startLoop } from '../../../work/loop.ts'
import type { Base } from '../../ground/base.ts'
import { type Arrivals, createArrivals } from './arrivals.ts'
import type { CheckResult, CheckStatus } from './check.ts'
import type { DoctorDeps, Listeners } from './deps.ts'
import { type CheckRun, runChecks } from './run-checks.ts'

const GAUGE_VALUES: Partial<Record<CheckStatus, number>> = { ok: 0, warning: 1, failed: 2 }

export type Doctor = {
  arrivals: Arrivals
  /** The last run; undefined before the first. */
  last(): CheckRun | undefined
  /** Returns the last run if it is at most `maxAgeMs` old; otherwise makes a new run. */
  run(maxAgeMs?: number): Promise<CheckRun>
  /**
   * Returns the last run if it began at `since` or later; otherwise returns null and begins such a
   * run.
   */
  runSince(since: number): CheckRun | null
  /** Begins the hourly runs. Earlier runs do not know the listeners. */
  start(listeners: Listeners): void
  /**
   * Ends the hourly runs. Does not wait for a run in progress, whose requests end by their own
   * limits.
   */
  stop(): void
}

type ServerDeps = Omit<DoctorDeps, 'server'> & Pick<Base, 'outbound' | 'health'>

/** A run that is younger is fresh enough for every request. */
const REST_MS = MINUTE_MS
const FIRST_MS = MINUTE_MS

export function createDoctor(deps: ServerDeps, run = runChecks): Doctor {
  const { health, log, now, outbound } = deps
  const arrivals = createArrivals()
  let bound: Listeners | undefined
  let last: CheckRun | undefined
  let running: Promise<CheckRun> | undefined
  let loop: Loop | undefined
  let isStopped = false

  async function runNow(): Promise<CheckRun> {
    const server =
      bound === undefined ? null : { outbound, arrivals, listeners: () => bound as Listeners }
    const done = await run({ ...deps, server })
    if (isStopped) return done
    logChanges(deps, last?.checks ?? [], done.checks)
    health.set('checks', reasonOf(done.checks))
    last = done
    return done
  }

  function begin(): Promise<CheckRun> {
    running ??= runFor(SYSTEM_OWNER, runNow).finally(() => {
      running = undefined
    })
    return running
  }

  /** Begins a run that no caller waits for, and logs its failure. */
  async function beginAlone(): Promise<void> {
    try {
      await begin()
    } catch (error) {
      log.error({ error: describeError(error) }, 'the checks could not be made')
    }
  }

  return {
    arrivals,
    last: () => last,
    run(maxAgeMs = HOUR_MS) {
      const ageMs = last === undefined ? Number.POSITIVE_INFINITY : now() - last.finishedAt
      // A negative age means that the clock was set back. Such a run is not fresh, else it could
      // stay so for long.
      const isFresh = ageMs >= 0 && ageMs < Math.max(REST_MS, maxAgeMs)
      return last !== undefined && isFresh ? Promise.resolve(last) : begin()
    },
    runSince(since) {
      if (last !== undefined && last.startedAt >= since) return last
      void beginAlone()
      return null
    },
    start(listeners) {
      bound = listeners
      loop = startLoop({
        run: beginAlone,
        firstWaitMs: FIRST_MS,
        maxWaitMs: HOUR_MS,
        keepsAlive: false,
      })
    },
    stop() {
      isStopped = true
      void loop?.stop()
    },
  }
}

function reasonOf(checks: readonly CheckResult[]): string | null {
  const names = checks.filter(({ status }) => status === 'failed').map(({ id }) => id)
  if (names.length === 0) return null
  return `These checks have failed: ${names.join(', ')}. The evidence and what to do: pillarbox doctor`
}

const SEVERITY: Record<CheckStatus, number> = { skipped: 0, ok: 0, warning: 1, failed: 2 }

function logChanges(
  { log }: Pick<ServerDeps, 'log'>,
  before: readonly CheckResult[],
  after: readonly CheckResult[],
): void {
  for (const { id, status, evidence, fix } of after) {
    const previous = before.find((one) => one.id === id)?.status ?? 'ok'
    if (status === previous) continue
    const facts = { check: id, evidence, fix }
    if (status === 'failed') log.error(facts, 'a check has failed')
    else if (status === 'warning') log.warn(facts, 'a check warns')
    else if (SEVERITY[previous] > 0) log.info({ check: id }, 'a check is no longer bad')
  }
}

/**
 * The gauges of `/metrics` about the last run of the checks; none before the first run. A skipped
 * check has no value.
 */
export function checkGauges({ doctor }: { doctor: Pick<Doctor, 'last'> }) {
  return [
    {
      name: 'pillarbox_check_status',
      help: 'Result of each check of the last run: 0 ok, 1 warning, 2 failed',
      labelNames: ['check'],
      read: () =>
        (doctor.last()?.checks ?? []).flatMap(({ id, status }) => {
          const value = GAUGE_VALUES[status]
          return value === undefined ? [] : [{ value, labels: { check: id } }]
        }),
    },
    {
      name: 'pillarbox_checks_timestamp_seconds',
      help: 'Time of the last run of the checks, in seconds since 1970',
      read: () => {
        const run = doctor.last()
        return run === undefined ? [] : [{ value: run.finishedAt / SECOND_MS }]
      },
    },
  ]
}
