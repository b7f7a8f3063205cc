/**
 * Background jobs: work that outlives the request that asked for it. The engine depends on no
 * feature: each kind of job comes with a handler.
 *
 * A job is claimed under a lease, which a heartbeat renews. A job whose handler fails is tried
 * again after a growing delay until its attempts are used up; then it stays as failed, with its
 * last error. When a process crashes, its jobs are due again when their leases end, and the
 * interrupted run does not count as an attempt (job-row.ts). A job may therefore run twice, and a
 * second run of a handler must do no harm.
 *
 * Kinds with their own limit are for long work. They take no slots from the others, alternate
 * between projects (due.ts) and save their progress (progress.ts); the program interrupts them at
 * once when it stops.
 */

import { DAY_MS, HOUR_MS, MINUTE_MS, type Now } from '../../base/clock.ts'
import type { Counters } from '../../base/counters.ts'
import { describeError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { lookAfterWrites } from '../../store/look-after-writes.ts'
import type { Store } from '../../store/store.ts'
import { type Loop, type LoopRun, runEvery, settlesWithin, startLoop } from '../loop.ts'
import { JobCancelled } from './cancelled.ts'
import { type CronEntry, startCron, TICK_PREFIX } from './cron.ts'
import { type DueKinds, findNextDueJob, isWorkDue } from './due.ts'
import { enqueueJob } from './enqueue.ts'
import {
  type ClaimedJob,
  claimJobs,
  deleteExpiredJobs,
  extendLease,
  lostLeaseError,
  putBackJob,
  putBackLostJobs,
} from './job-row.ts'
import { type CancelledEnd, type JobHandler, runJob } from './run.ts'

type Jobs = {
  /**
   * Polls for due jobs now, for example after enqueuing. The loop polls by itself when a job is due, and
   * within a second after a write.
   */
  wake(): void
  /** Stops a running job after its step: somebody has asked for it (`cancel.ts`). */
  cancel(id: string): void
  /**
   * Claims no more jobs, waits up to `graceMs` for running ones, then aborts and puts them back.
   */
  stop(graceMs: number): Promise<void>
}

export type JobsOptions = {
  store: Store
  log: Log
  counters?: Pick<Counters, 'add'> | undefined
  now: Now
  handlers: Record<string, JobHandler>
  /** How cancelled jobs end, by kind; the result is null if absent. */
  cancelledEnds?: Readonly<Record<string, CancelledEnd>>
  cron?: readonly CronEntry[]
  /** How many jobs run at a time, without the kinds that have their own limit; 4 if absent. */
  concurrency?: number
  /**
   * How many jobs of a kind run at a time, by kind, in slots that no other kind uses. A project runs one
   * job of such a kind at a time.
   */
  limits?: Readonly<Record<string, number>>
  /** How long a job stays with a process that no longer renews its lease. */
  leaseMs?: number
}

type JobRun = { job: ClaimedJob; abort: AbortController; done: Promise<void> }
/** Kinds of jobs that share slots. */
type SlotGroup = DueKinds & { slots: number }
type JobsState = Required<Omit<JobsOptions, 'cron' | 'counters'>> & {
  counters: JobsOptions['counters']
  groups: SlotGroup[]
  running: Map<string, JobRun>
  /** Ids of jobs that were cancelled in the commit that claimed them, before their run was known. */
  cancelledBefore: Set<string>
  deletedExpiredAt: number
}

const DEFAULT_CONCURRENCY = 4
const DEFAULT_LEASE_MS = MINUTE_MS
/** The wait before the next poll after a write, and after a failure. */
const POLL_MS = 1000
/** The longest wait between two polls: the clock may jump. */
const MAX_WAIT_MS = MINUTE_MS
const DELETE_EXPIRED_EVERY_MS = HOUR_MS
const COMPLETED_RETENTION_MS = 7 * DAY_MS
const FAILED_RETENTION_MS = 30 * DAY_MS

export function startJobs(options: JobsOptions): Jobs {
  const { cron = [], limits = {}, concurrency = DEFAULT_CONCURRENCY, ...rest } = options
  const kinds = Object.keys(options.handlers)
  for (const { kind } of cron) {
    if (!kinds.includes(kind)) throw new TypeError(`No handler for the cron job "${kind}".`)
  }
  // A failure count begins at 0, so that its first increase shows.
  for (const kind of kinds) options.counters?.add('pillarbox_job_failures_total', { kind }, 0)
  const state: JobsState = {
    ...rest,
    counters: options.counters,
    concurrency,
    limits,
    cancelledEnds: options.cancelledEnds ?? {},
    leaseMs: options.leaseMs ?? DEFAULT_LEASE_MS,
    groups: toGroups(kinds, { concurrency, limits }),
    running: new Map(),
    cancelledBefore: new Set(),
    deletedExpiredAt: 0,
  }
  // Comes first, because it throws if a schedule is wrong.
  const tickOf = (entry: CronEntry) => tick(state, entry).then(() => loop.wake())
  const cronTimers = startCron({ log: state.log, tick: tickOf }, cron)
  const loop: Loop = startLoop({
    run: (polling) => poll(state, polling),
    onError: (error) => state.log.error({ error: describeError(error) }, 'no jobs can be claimed'),
    wakes: [(wake) => lookAfterWrites(state.store, POLL_MS, wake)],
    maxWaitMs: MAX_WAIT_MS,
    retryMs: POLL_MS,
  })
  const heartbeat = runEvery(state.leaseMs / 3, () => renewLeases(state))
  return {
    wake: loop.wake,
    cancel(id) {
      const run = state.running.get(id)
      if (run === undefined) state.cancelledBefore.add(id)
      else run.abort.abort(new JobCancelled())
    },
    async stop(graceMs) {
      cronTimers.stop()
      await loop.stop()
      await finish(state, graceMs)
      await heartbeat.stop()
    },
  }
}

/** Claims the jobs that are due. Returns the time (ms) until others become due. */
async function poll(state: JobsState, loop: LoopRun): Promise<number> {
  await deleteExpired(state)
  const free = freeGroups(state)
  const lookedAt = state.now()
  if (free.length > 0 && (await isWorkDue(state.store, free, lookedAt))) {
    await claim(state, free, { at: lookedAt, wake: loop.wake })
  }
  return loop.isWoken() ? 0 : findWaitMs(state, lookedAt)
}

/**
 * Returns the time (ms) until a job becomes due that the last look did not see; 0 if it is due by now. Jobs
 * that wait for a slot are claimed when a job ends.
 */
async function findWaitMs({ store, groups, now }: JobsState, lookedAt: number): Promise<number> {
  const at = await findNextDueJob(store, groups, lookedAt)
  return at === undefined ? MAX_WAIT_MS : Math.max(0, Math.min(MAX_WAIT_MS, at - now()))
}

/** Returns the groups that have free slots, with the number of free slots. */
function freeGroups({ groups, running }: JobsState): SlotGroup[] {
  const active = new Map<string, number>()
  for (const { job } of running.values()) active.set(job.kind, (active.get(job.kind) ?? 0) + 1)
  return groups
    .map((group) => {
      const taken = group.kinds.reduce((sum, kind) => sum + (active.get(kind) ?? 0), 0)
      return { ...group, slots: group.slots - taken }
    })
    .filter(({ slots }) => slots > 0)
}

function toGroups(
  kinds: readonly string[],
  { concurrency, limits }: Required<Pick<JobsOptions, 'concurrency' | 'limits'>>,
): SlotGroup[] {
  const shared = kinds.filter((kind) => !Object.hasOwn(limits, kind))
  const own = kinds.flatMap((kind) => {
    const slots = Object.hasOwn(limits, kind) ? limits[kind] : undefined
    return slots === undefined ? [] : [{ kinds: [kind], slots, onePerProject: true }]
  })
  if (shared.length === 0) return own
  return [{ kinds: shared, slots: concurrency, onePerProject: false }, ...own]
}

/** `wake`: called when a job has ended. */
async function claim(
  state: JobsState,
  free: readonly SlotGroup[],
  { at: now, wake }: { at: number; wake: () => void },
): Promise<void> {
  const leaseUntil = now + state.leaseMs
  const claimed = await state.store.write(async (tx) => {
    await putBackLostJobs(tx, now)
    const taken: ClaimedJob[] = []
    for (const { slots, ...due } of free) {
      taken.push(...(await claimJobs(tx, { ...due, limit: slots, now, leaseUntil })))
    }
    return taken
  })
  for (const job of claimed) {
    // The lease of a running handler may have ended unnoticed, for example while the machine slept.
    state.running.get(job.id)?.abort.abort(lostLeaseError())
    const abort = new AbortController()
    const isCancelled = job.cancelledAt !== null || state.cancelledBefore.delete(job.id)
    if (isCancelled) abort.abort(new JobCancelled())
    const done = runJob(state, job, abort.signal).then(() => {
      if (state.running.get(job.id)?.abort === abort) state.running.delete(job.id)
      wake()
    })
    state.running.set(job.id, { job, abort, done })
  }
}

/** Renews the leases of running jobs and aborts those that have lost theirs or are cancelled. */
async function renewLeases(state: JobsState): Promise<void> {
  // The rows say who is cancelled: this covers what the set forgets.
  state.cancelledBefore.clear()
  const running = [...state.running.values()]
  if (running.length === 0) return
  const leaseUntil = state.now() + state.leaseMs
  try {
    const extensions = await state.store.write(async (tx) => {
      const extended: Awaited<ReturnType<typeof extendLease>>[] = []
      for (const { job } of running) extended.push(await extendLease(tx, job, leaseUntil))
      return extended
    })
    for (const [index, run] of running.entries()) {
      const isOver = state.running.get(run.job.id) !== run
      if (isOver) continue
      const extension = extensions[index]
      if (extension === undefined) run.abort.abort(lostLeaseError())
      else if (extension.isCancelled) run.abort.abort(new JobCancelled())
    }
  } catch (error) {
    state.log.error({ error: describeError(error) }, 'the leases of jobs could not be renewed')
  }
}

async function finish(state: JobsState, graceMs: number): Promise<void> {
  const running = [...state.running.values()]
  if (running.length === 0) return
  const long = running.filter(({ job }) => Object.hasOwn(state.limits, job.kind))
  for (const { abort } of long) abort.abort(stopError())
  await settlesWithin(graceMs, Promise.all(running.map(({ done }) => done)))
  const left = [...new Set([...long, ...state.running.values()])]
  if (left.length === 0) return
  for (const { abort } of left) abort.abort(stopError())
  try {
    const now = state.now()
    await state.store.write(async (tx) => {
      for (const { job } of left) await putBackJob(tx, job, now)
    })
  } catch (error) {
    state.log.error({ error: describeError(error) }, 'running jobs could not be put back')
  }
}

function stopError(): Error {
  return new Error('The program is stopping.')
}

/** Enqueues the job of a cron entry, unless the previous one still waits or runs. */
async function tick(state: JobsState, { name, kind, payload = {} }: CronEntry): Promise<void> {
  const now = state.now()
  const job = { kind, payload, now, uniqueKey: `${TICK_PREFIX}${name}`, maxAttempts: 1 }
  await state.store.write((tx) => enqueueJob(tx, job))
}

async function deleteExpired(state: JobsState): Promise<void> {
  const now = state.now()
  if (now - state.deletedExpiredAt < DELETE_EXPIRED_EVERY_MS) return
  state.deletedExpiredAt = now
  const before = { completed: now - COMPLETED_RETENTION_MS, failed: now - FAILED_RETENTION_MS }
  await state.store.write((tx) => deleteExpiredJobs(tx, before))
}
