/**
 * On the main thread: brings tasks to delivery threads. A task waits until its site has a granted
 * connection, goes to the thread with the least work for each of that site's connections, and
 * comes back exactly once: with a result, as returned, or as too heavy for a delivery thread. When a
 * thread ends, what it had delivered is reported as that, the task that was being made then comes
 * back with all that wait and share its content, and the others go to another thread; whoever meets
 * that several times is returned for later.
 */
import { MINUTE_MS, type Now } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { AttemptOutcome } from '../attempt.ts'
import { outcomeOfLostThread } from '../outcomes.ts'
import type { FromThread, PoolSettings, ThreadResult } from '../protocol.ts'
import { type AllocationChange, createAllocations } from '../sites/allocations.ts'
import { createBudgets } from '../sites/budgets.ts'
import type { Standing } from '../sites/shaping.ts'
import { addJob, createSiteWork, type SiteWork, takeJob } from '../sites/site-queue.ts'
import type { DeliveryProgress } from '../sites/site-status.ts'
import { createStarvedSites } from '../sites/starved-sites.ts'
import { createProgressQueries } from './progress-queries.ts'
import {
  createThreads,
  type DeliveryThread,
  type LastWords,
  type ThreadsOptions,
} from './threads.ts'
import { createParcels, type Parcelled } from './work-messages.ts'

export type Attempted = Extract<ThreadResult, { kind: 'attempted' }>

/** What became of a task. `delayMs`: wait at least so long before it is brought again. */
export type Returned = { kind: 'put back'; delayMs: number; reason?: string }

/** `reason`: why a thread ended while it was made; null when none did. */
export type TooHeavyWork = { kind: 'heavy'; reason: string | null }

export type Done<T> = { work: T; result: Attempted | Returned | TooHeavyWork }

export type Work = Parcelled & { pool: PoolSettings }

export type DispatcherDeps<T extends Work> = {
  settings: ThreadsOptions['settings']
  maxThreads: number
  maxConnections: number
  hangMs: number
  log: Log
  now: Now
  maxConnectionsPerSite: number
  connectionsOf(site: string): number
  standingOf(site: string): Standing
  done(results: readonly Done<T>[]): void
  /** For tests. */
  createThreads?: typeof createThreads
}

export type Dispatcher<T extends Work> = {
  add(works: readonly T[]): void
  /** Hands back what has not begun for a site. */
  recall(site: string): void
  inHand(): number
  /** It has a task of that project for the site. */
  isBusyFor(site: string, projectId: string): boolean
  /** Connections granted to the site. */
  connectionsOf(site: string): number
  /** Of the task that the test finds; undefined when there is none, or not any more. */
  progressOf(isIt: (work: T) => boolean): Promise<DeliveryProgress | undefined>
  stop(graceMs: number): Promise<void>
}

type Job<T> = {
  task: number
  work: T
  thread: DeliveryThread | null
  /** How many threads ended under it. */
  ended: number
  /** When it came. */
  since: number
}

/** What `capacity` leases, and what urgent mail may have beyond. */
const MAX_PER_THREAD = 650
/** A further thread is started when those there have so much to do each. */
const BUSY_JOBS = 40
/** So many tasks a connection make a site busy enough to move connections to idle threads. */
const BUSY_SITE_JOBS = 4
const MAX_ENDED = 3
const MAX_TASK = 2 ** 31 - 1
const AFTER_CRASH_MS = MINUTE_MS
/** Its server has not greeted yet, and others had to wait for it. */
const AFTER_CUT_MS = MINUTE_MS
/** A letter that was lost is made again. */
const AFTER_LOSS_MS = 1_000
const SWEEP_EVERY_MS = 15_000
/** What waited so long for a connection goes back to the queue, whose room is for others. */
const MAX_STARVED_MS = 30_000
const AFTER_STARVED_MS = 30_000

export function createDispatcher<T extends Work>(deps: DispatcherDeps<T>): Dispatcher<T> {
  const { connectionsOf, done } = deps
  const jobs = new Map<number, Job<T>>()
  const sites = new Map<string, SiteWork<Job<T>>>()
  const recalled = new Set<string>()
  /** Sites with tasks that no thread has yet; of these, `hunger` has those without a connection. */
  const unserved = new Set<string>()
  const loads = new Map<DeliveryThread, number>()
  const allocations = createAllocations<DeliveryThread>(deps.maxConnections)
  const budgets = createBudgets({ ...deps, maxPerSite: deps.maxConnectionsPerSite })
  const parcels = createParcels()
  const starvedSites = createStarvedSites({
    allocations,
    budgets,
    siteOf,
    serve,
    lower: (site, connections) => send(allocations.lower(site, connections)),
    flush: parcels.flush,
    now: deps.now,
  })
  const progressQueries = createProgressQueries()
  const hangMs = () => deps.hangMs
  const start = deps.createThreads ?? createThreads
  const threads = start({ ...deps, name: 'delivery', hangMs, received, ended })
  const sweeper = setInterval(sweep, SWEEP_EVERY_MS).unref()
  let lastTask = 0
  let isStopping = false

  /** They fit 32 bits; who had one before has long been reported. */
  function nextTask(): number {
    lastTask = (lastTask % MAX_TASK) + 1
    return lastTask
  }

  function siteOf(name: string): SiteWork<Job<T>> {
    const known = sites.get(name)
    if (known !== undefined) return known
    const site = createSiteWork<Job<T>>(deps.now())
    sites.set(name, site)
    return site
  }

  function add(works: readonly T[]): void {
    const touched = new Set<string>()
    for (const work of works) {
      const job = { task: nextTask(), work, thread: null, ended: 0, since: deps.now() }
      jobs.set(job.task, job)
      addJob(siteOf(work.pool.site), job)
      touched.add(work.pool.site)
    }
    for (const site of touched) recalled.delete(site)
    pump(touched)
  }

  function pump(names: Iterable<string>): void {
    for (const name of names) if (!starvedSites.has(name)) serve(name)
    if (starvedSites.size() > 0) starvedSites.serveAll()
    parcels.flush()
  }

  function serve(name: string): void {
    const site = siteOf(name)
    if (site.waiting.size() > 0) startThreads()
    if (threads.list().length === 0) returnWaiting(name, AFTER_CRASH_MS)
    else pumpSite(name, site)
  }

  function startThreads(): void {
    while (jobs.size > BUSY_JOBS * threads.list().length || threads.list().length === 0) {
      if (threads.start() === undefined) return
    }
  }

  function pumpSite(name: string, site: SiteWork<Job<T>>): void {
    const limit = connectionsOf(name)
    send(allocations.lower(name, limit))
    account(name, site)
    const needs = Math.min(limit, site.jobCount, allocations.total(name) + budgets.room(name))
    send(allocations.raise({ site: name, needs, threads: byLoad() }))
    account(name, site)
    if (site.jobCount > limit * BUSY_SITE_JOBS) send(allocations.rebalance(name, threads.list()))
    assign(name, site)
    if (site.waiting.size() > 0) unserved.add(name)
    else unserved.delete(name)
    starvedSites.note(name, site.waiting.size() > 0 && allocations.total(name) === 0)
  }

  /** What the site holds counts where it is shared with others. */
  function account(name: string, site: SiteWork<Job<T>>): void {
    const connections = allocations.total(name)
    const { addresses, isHeard, projects } = site
    const [projectId = null] = projects.size === 1 ? projects.keys() : []
    const standing = starvedSites.isCut(name) ? 'silent' : deps.standingOf(name)
    budgets.update(name, { addresses, projectId, isHeard, standing }, connections)
    if (connections === 0) site.servedSince = null
    else site.servedSince ??= deps.now()
  }

  function assign(name: string, site: SiteWork<Job<T>>): void {
    for (let job = site.waiting.peek(); job !== undefined; job = site.waiting.peek()) {
      const thread = allocations.choose(name, (one) => site.load.get(one) ?? 0)
      if (thread === undefined || loadOf(thread) >= MAX_PER_THREAD) break
      site.waiting.shift()
      job.thread = thread
      site.load.set(thread, (site.load.get(thread) ?? 0) + 1)
      loads.set(thread, loadOf(thread) + 1)
      parcels.add(thread, job.task, job.work.pool, job.work)
    }
  }

  function send(changes: AllocationChange<DeliveryThread>[]): void {
    for (const { thread, site, connections } of changes)
      thread.post({ type: 'allocate', site, connections })
  }

  function received(thread: DeliveryThread, message: FromThread): void {
    switch (message.type) {
      case 'results':
        finish(thread, message.results)
        return
      case 'allocated':
        allocations.confirm(thread, message.site, message.connections)
        account(message.site, siteOf(message.site))
        // It may seem to need it yet, for what it has done is told a moment later.
        if (starvedSites.size() > 0) starvedSites.serveAll()
        pump([...unserved, message.site])
        return
      case 'greeted':
        noteGreeting(message.site)
        return
      case 'progress':
        progressQueries.answered(message)
        return
      default:
    }
  }

  function finish(thread: DeliveryThread, results: readonly ThreadResult[]): void {
    const finished: Done<T>[] = []
    const touched = new Set<string>()
    for (const result of results) {
      const job = jobs.get(result.task)
      if (job === undefined || job.thread !== thread) continue
      const name = job.work.pool.site
      touched.add(name)
      unassign(job)
      if (result.kind === 'attempted') finished.push({ work: take(job), result })
      else if (result.kind === 'heavy')
        finished.push({ work: take(job), result: { kind: 'heavy', reason: null } })
      else if (result.kind === 'cut') finished.push({ work: take(job), result: afterCut(result) })
      else if (isStopping || job.work.composed !== undefined || recalled.has(name))
        finished.push({ work: take(job), result: { kind: 'put back', delayMs: 0 } })
      else siteOf(name).waiting.push(job)
    }
    if (finished.length > 0) done(finished)
    for (const name of touched) noteStanding(name)
    if (!isStopping) pump(touched.union(unserved))
  }

  function noteGreeting(name: string): void {
    const site = siteOf(name)
    site.isHeard = true
    starvedSites.forgive(name)
    account(name, site)
    if (!isStopping) pump([name])
  }

  /** What is known of a site by what became of its mail. */
  function noteStanding(name: string): void {
    const standing = deps.standingOf(name)
    if (standing !== 'new') siteOf(name).isHeard = standing === 'answered'
  }

  /** Ends the job's time with its thread. */
  function unassign(job: Job<T>): void {
    const { thread, task, work } = job
    if (thread === null) return
    const site = siteOf(work.pool.site)
    site.load.set(thread, (site.load.get(thread) ?? 0) - 1)
    loads.set(thread, loadOf(thread) - 1)
    parcels.release(thread, task)
    job.thread = null
  }

  function take(job: Job<T>): T {
    jobs.delete(job.task)
    const site = siteOf(job.work.pool.site)
    takeJob(site, job)
    if (site.jobCount === 0) site.idleSince = deps.now()
    return job.work
  }

  function ended(thread: DeliveryThread, { culprit, taken, reason }: LastWords): void {
    const { work } = jobs.get(culprit) ?? {}
    const blamed = work?.composed === undefined ? work?.source.content.id : undefined
    const touched = new Set(allocations.sites())
    allocations.drop(thread)
    parcels.drop(thread)
    const lost: Job<T>[] = []
    const lostComposed: Job<T>[] = []
    const over: { job: Job<T>; outcome: AttemptOutcome }[] = []
    for (const job of jobs.values()) {
      if (job.thread !== thread) continue
      touched.add(job.work.pool.site)
      unassign(job)
      job.ended++
      if (taken.has(job.task)) over.push({ job, outcome: outcomeOfLostThread(job.work.pool.mode) })
      // What was not delivered, `stop` gives back.
      else if (isStopping) continue
      else if (job.work.composed !== undefined) lostComposed.push(job)
      else if (job.ended >= MAX_ENDED && job.task !== culprit) lost.push(job)
      else siteOf(job.work.pool.site).waiting.push(job)
    }
    for (const site of sites.values()) site.load.delete(thread)
    loads.delete(thread)
    reportOver(over)
    if (isStopping) return
    putBackAll(lost, AFTER_CRASH_MS)
    putBackAll(lostComposed, AFTER_LOSS_MS)
    if (blamed !== undefined) setAside(blamed, { culprit, reason })
    pump(touched.union(unserved))
  }

  /** No delivery thread makes messages of that content any more. */
  function setAside(content: string, { culprit, reason }: { culprit: number; reason: string }) {
    for (const thread of threads.list()) thread.post({ type: 'set aside', content })
    const heavy: Done<T>[] = []
    for (const { waiting } of sites.values()) {
      for (const job of waiting.takeAll()) {
        if (job.work.source.content.id !== content) waiting.push(job)
        else {
          const ownReason = job.task === culprit ? reason : null
          heavy.push({ work: take(job), result: { kind: 'heavy', reason: ownReason } })
        }
      }
    }
    done(heavy)
  }

  /** Of these there is nothing more to be learned from the thread. */
  function reportOver(list: readonly { job: Job<T>; outcome: AttemptOutcome }[]): void {
    if (list.length === 0) return
    const made = { subject: null, faults: [], startedAt: deps.now(), brokenTls: null }
    done(
      list.map(({ job, outcome }) => ({
        work: take(job),
        result: { task: job.task, kind: 'attempted', outcome, ...made },
      })),
    )
  }

  function putBackAll(list: readonly Job<T>[], delayMs: number): void {
    if (list.length === 0) return
    done(list.map((job) => ({ work: take(job), result: { kind: 'put back', delayMs } })))
  }

  function returnWaiting(name: string, delayMs: number): void {
    unserved.delete(name)
    starvedSites.note(name, false)
    putBackAll(siteOf(name).waiting.takeAll(), delayMs)
  }

  function recall(name: string): void {
    recalled.add(name)
    returnWaiting(name, 0)
    for (const thread of siteOf(name).load.keys()) thread.post({ type: 'recall', site: name })
  }

  /** Sites that have had nothing to do for a while give up their connections and are forgotten. */
  function sweep(): void {
    for (const name of starvedSites.listSince(MAX_STARVED_MS)) returnWaiting(name, AFTER_STARVED_MS)
    const before = deps.now() - deps.settings.idleMs
    for (const [name, site] of sites) {
      if (site.jobCount > 0 || site.idleSince > before) continue
      send(allocations.lower(name, 0))
      if (allocations.total(name) > 0) continue
      sites.delete(name)
      budgets.forget(name)
      recalled.delete(name)
    }
    pump([...unserved])
  }

  function loadOf(thread: DeliveryThread): number {
    return loads.get(thread) ?? 0
  }

  function byLoad(): DeliveryThread[] {
    return [...threads.list()].sort((left, right) => loadOf(left) - loadOf(right))
  }

  async function progressOf(isIt: (work: T) => boolean): Promise<DeliveryProgress | undefined> {
    const job = jobs.values().find(({ work }) => isIt(work))
    if (job === undefined) return undefined
    const { thread, task, since, work } = job
    const waiting = { site: work.pool.site, step: 'waiting', since, peer: null } as const
    if (thread === null) return waiting
    const current = await progressQueries.ask(thread, task)
    if (current === null) return undefined
    // A thread without a word is busy making some message.
    if (current === undefined || current.step === 'waiting') return waiting
    return { ...current, site: work.pool.site }
  }

  async function stop(graceMs: number): Promise<void> {
    isStopping = true
    clearInterval(sweeper)
    starvedSites.stop()
    for (const name of sites.keys()) returnWaiting(name, 0)
    await threads.stop(graceMs)
    const rest = [...jobs.values()]
    for (const job of rest) unassign(job)
    putBackAll(rest, 0)
  }

  return {
    add,
    recall,
    inHand: () => jobs.size,
    isBusyFor: (site, projectId) => sites.get(site)?.projects.has(projectId) ?? false,
    connectionsOf: allocations.total,
    progressOf,
    stop,
  }
}

function afterCut({ reason }: Extract<ThreadResult, { kind: 'cut' }>): Returned {
  return { kind: 'put back', delayMs: AFTER_CUT_MS, reason }
}
