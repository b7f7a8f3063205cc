/**
 * Background jobs: work that outlives the request that asked for it. Knows no product: what a kind
 * of job does arrives as a handler.
 *
 * A job is claimed under a lease that a heartbeat renews. A handler that fails is tried again after
 * a growing delay until its attempts are used up; what remains is the dead letter with its last
 * error. A process that dies lets go of its jobs when their leases end, which is no attempt of
 * theirs (ledger.ts). A job may therefore run twice, never not at all: handlers are written so that a second run does no harm.
 *
 * Kinds with a limit of their own are long work. They take no places from the others, take turns
 * between projects (due.ts), save how far they have come (progress.ts), and are therefore
 * interrupted at once when the program stops.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, type Now } from '../clock.ts'
import { describeError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/store.ts'
import { type CronEntry, startCron } from './cron.ts'
import { type DueKinds, isWorkDue } from './due.ts'
import { enqueueJob } from './enqueue.ts'
import {
  type Claimed,
  claimJobs,
  extendLease,
  handBackJob,
  pruneJobs,
  returnLostJobs,
} from './ledger.ts'
import { type JobHandler, runJob } from './run.ts'

export type { JobHandler, RunningJob } from './run.ts'

export type Jobs = {
  /** Looks for work now, as after enqueuing; the loop looks by itself once a second. */
  wake(): void
  /** Claims nothing more, waits up to `graceMs` for what runs, then aborts it and hands it back. */
  stop(graceMs: number): Promise<void>
}

export type JobsOptions = {
  store: Store
  log: Log
  now: Now
  handlers: Record<string, JobHandler>
  cron?: readonly CronEntry[]
  /** Jobs at a time, those of kinds with a limit of their own not counted; 4 if absent. */
  concurrency?: number
  /** By kind: how many of it run at a time, beside the others; of a project, one. */
  limits?: Readonly<Record<string, number>>
  /** How long a job stays with a process that says nothing more. */
  leaseMs?: number
}

type Running = { job: Claimed; abort: AbortController; done: Promise<void> }
/** Kinds that share a number of places. */
type Lane = DueKinds & { places: number }
type State = Required<Omit<JobsOptions, 'cron'>> & {
  lanes: Lane[]
  running: Map<string, Running>
  isStopping: boolean
  looking: Promise<void> | undefined
  isWoken: boolean
  prunedAt: number
}

const DEFAULT_CONCURRENCY = 4
const DEFAULT_LEASE_MS = MINUTE_MS
const POLL_MS = 1000
const PRUNE_EVERY_MS = HOUR_MS
const KEEP_COMPLETED_MS = 7 * DAY_MS
const KEEP_FAILED_MS = 30 * DAY_MS

export function startJobs(options: JobsOptions): Jobs {
  const { cron = [], limits = {}, concurrency = DEFAULT_CONCURRENCY, ...rest } = options
  const kinds = Object.keys(options.handlers)
  for (const { kind } of cron) {
    if (!kinds.includes(kind)) throw new TypeError(`No handler for the cron job "${kind}".`)
  }
  const state: State = {
    ...rest,
    concurrency,
    limits,
    leaseMs: options.leaseMs ?? DEFAULT_LEASE_MS,
    lanes: toLanes(kinds, { concurrency, limits }),
    running: new Map(),
    isStopping: false,
    looking: undefined,
    isWoken: false,
    prunedAt: 0,
  }
  const wake = () => look(state)
  const clocks = startCron({ log: state.log, tick: (entry) => tick(state, entry) }, cron)
  const poll = setInterval(wake, POLL_MS)
  const heartbeat = setInterval(() => beat(state), state.leaseMs / 3)
  const unwatch = state.store.onExternalChange(wake)
  wake()
  return {
    wake,
    async stop(graceMs) {
      state.isStopping = true
      clocks.stop()
      unwatch()
      clearInterval(poll)
      await state.looking
      await finish(state, graceMs)
      clearInterval(heartbeat)
    },
  }
}

/** One look at a time; a call during a look makes it look again. */
function look(state: State): void {
  state.isWoken = true
  if (state.looking || state.isStopping) return
  state.looking = lookWhileWoken(state)
    .catch((error) => state.log.error({ error: describeError(error) }, 'no jobs can be claimed'))
    .finally(() => {
      state.looking = undefined
      if (state.isWoken) look(state)
    })
}

async function lookWhileWoken(state: State): Promise<void> {
  while (state.isWoken && !state.isStopping) {
    state.isWoken = false
    await prune(state)
    const free = freeLanes(state)
    if (free.length > 0 && (await isWorkDue(state.store, free, state.now()))) {
      await claim(state, free)
    }
  }
}

/** Those with places left, and how many. */
function freeLanes({ lanes, running }: State): Lane[] {
  const takes = new Map<string, number>()
  for (const { job } of running.values()) takes.set(job.kind, (takes.get(job.kind) ?? 0) + 1)
  return lanes
    .map((lane) => {
      const taken = lane.kinds.reduce((sum, kind) => sum + (takes.get(kind) ?? 0), 0)
      return { ...lane, places: lane.places - taken }
    })
    .filter(({ places }) => places > 0)
}

function toLanes(
  kinds: readonly string[],
  { concurrency, limits }: Required<Pick<JobsOptions, 'concurrency' | 'limits'>>,
): Lane[] {
  const shared = kinds.filter((kind) => !Object.hasOwn(limits, kind))
  const own = kinds.flatMap((kind) => {
    const places = Object.hasOwn(limits, kind) ? limits[kind] : undefined
    return places === undefined ? [] : [{ kinds: [kind], places, onePerProject: true }]
  })
  if (shared.length === 0) return own
  return [{ kinds: shared, places: concurrency, onePerProject: false }, ...own]
}

async function claim(state: State, free: readonly Lane[]): Promise<void> {
  const now = state.now()
  const leaseUntil = now + state.leaseMs
  const claimed = await state.store.write(async (tx) => {
    await returnLostJobs(tx, now)
    const taken: Claimed[] = []
    for (const { places, ...due } of free) {
      taken.push(...(await claimJobs(tx, { ...due, limit: places, now, leaseUntil })))
    }
    return taken
  })
  for (const job of claimed) {
    // Its lease ended under a handler of ours that did not notice, as after a long suspension.
    state.running.get(job.id)?.abort.abort(lostLease())
    const abort = new AbortController()
    const done = runJob(state, job, abort.signal).then(() => {
      if (state.running.get(job.id)?.abort === abort) state.running.delete(job.id)
      look(state)
    })
    state.running.set(job.id, { job, abort, done })
  }
}

/** Renews the leases of what runs; whoever lost one is told to stop. */
async function beat(state: State): Promise<void> {
  const running = [...state.running.values()]
  if (running.length === 0) return
  const leaseUntil = state.now() + state.leaseMs
  try {
    const held = await state.store.write(async (tx) => {
      const answers: boolean[] = []
      for (const { job } of running) answers.push(await extendLease(tx, job, leaseUntil))
      return answers
    })
    for (const [index, run] of running.entries()) {
      const isOver = state.running.get(run.job.id) !== run
      if (!held[index] && !isOver) run.abort.abort(lostLease())
    }
  } catch (error) {
    state.log.error({ error: describeError(error) }, 'the leases of jobs could not be renewed')
  }
}

async function finish(state: State, graceMs: number): Promise<void> {
  const running = [...state.running.values()]
  if (running.length === 0) return
  const long = running.filter(({ job }) => Object.hasOwn(state.limits, job.kind))
  for (const { abort } of long) abort.abort(stopping())
  await within(graceMs, Promise.all(running.map(({ done }) => done)))
  const left = [...new Set([...long, ...state.running.values()])]
  if (left.length === 0) return
  for (const { abort } of left) abort.abort(stopping())
  try {
    const now = state.now()
    await state.store.write(async (tx) => {
      for (const { job } of left) await handBackJob(tx, job, now)
    })
  } catch (error) {
    state.log.error({ error: describeError(error) }, 'running jobs could not be handed back')
  }
}

function stopping(): Error {
  return new Error('The program is stopping.')
}

function lostLease(): Error {
  return new Error('The lease of the job was lost.')
}

async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, ms, false)
  const isDone = await Promise.race([work.then(() => true), promise])
  clearTimeout(timer)
  return isDone
}

/** A tick finds the last one's job still waiting or running: it adds nothing. */
async function tick(state: State, { name, kind, payload = {} }: CronEntry): Promise<void> {
  const now = state.now()
  const job = { kind, payload, now, uniqueKey: `cron:${name}`, maxAttempts: 1 }
  await state.store.write((tx) => enqueueJob(tx, job))
  look(state)
}

async function prune(state: State): Promise<void> {
  const now = state.now()
  if (now - state.prunedAt < PRUNE_EVERY_MS) return
  state.prunedAt = now
  const before = { completed: now - KEEP_COMPLETED_MS, failed: now - KEEP_FAILED_MS }
  await state.store.write((tx) => pruneJobs(tx, before))
}
