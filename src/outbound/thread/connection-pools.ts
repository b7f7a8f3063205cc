/**
 * In a delivery thread: decides which task uses which connection. The main thread allocates a number
 * of connections to each site. A site has one or more connection pools, each with waiting tasks and
 * idle sessions. A runner holds one connection and runs one task of its pool after another; the next one may
 * begin before the end of the one before it (`begun-tasks.ts`). An idle session is closed after a while, or
 * earlier if another pool of the site needs the connection.
 *
 * `open` counts runners and idle sessions. It exceeds `allowed` only until a lower allocation has
 * taken effect. A session that this thread ends is not open any more once QUIT is on its way: nothing
 * waits for the reply.
 */
import type { Now } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import type { CurrentStep } from '../attempt.ts'
import { createClassQueue } from '../class-queue.ts'
import type { PoolSettings, SmtpTask } from '../protocol.ts'
import type { SmtpSession } from '../smtp/session.ts'
import {
  type BegunTask,
  type ConnectionPool,
  createNextTasks,
  createRunningTasks,
  type IdleSession,
  isOutranked,
  type NextTasksDeps,
  type PoolRunner,
  type SitePools,
} from './begun-tasks.ts'
import type { Tried, TryInput } from './try-task.ts'

type ConnectionPoolsDeps = NextTasksDeps & {
  tryTask(input: TryInput): Promise<Tried>
  /** Called when a lower allocation has taken effect. */
  allocated(site: string, connections: number): void
  /** Called at the first greeting since the site got connections in this thread. */
  greeted(site: string): void
  now: Now
}

type ConnectionPools = {
  setPool(pool: PoolSettings): void
  add(task: SmtpTask): void
  /** Starts tasks for which there are connections; call it after a batch of `add`. */
  start(): void
  allocate(site: string, connections: number): void
  /** Takes all connections from a site without tasks; it is not confirmed. */
  release(site: string): void
  /** Call it when a session of the site has its greeting. */
  greeted(site: string): void
  /** Puts back the tasks of the site whose turn has not come. */
  recall(site: string): void
  /** Takes tasks back, except those whose message is being written: `begun-tasks.ts`. */
  withdraw(tasks: ReadonlySet<number>): void
  /** Closes sessions that were idle for `idleMs`, and forgets pools without tasks and sessions. */
  closeIdle(idleMs: number): void
  /** Takes back all tasks; resolves when no message is being written or waits for its reply. */
  finish(): Promise<void>
  /** The current step of a task; undefined if the task is not in this thread. */
  progressOf(task: number): CurrentStep | undefined
}

type PoolsContext = {
  deps: ConnectionPoolsDeps
  sites: Map<string, SitePools>
  pools: Map<string, ConnectionPool>
  running: ReturnType<typeof createRunningTasks>
  nextTasks: ReturnType<typeof createNextTasks>
}

export function createConnectionPools(deps: ConnectionPoolsDeps): ConnectionPools {
  const running = createRunningTasks(deps.now)
  const onLate = (site: SitePools) => startRunners(context, site)
  const nextTasks = createNextTasks({ deps, running, onLate })
  const context: PoolsContext = { deps, sites: new Map(), pools: new Map(), running, nextTasks }
  const touched = new Set<SitePools>()
  return {
    setPool: (pool) => setPool(context, pool),
    add(task) {
      const state = context.pools.get(task.pool)
      if (state === undefined) throw new TypeError(`a task for the unknown pool ${task.pool}`)
      state.waiting.push(task)
      touched.add(siteOf(context, state.pool.site))
    },
    start() {
      for (const site of touched) startRunners(context, site)
      touched.clear()
    },
    allocate(name, connections) {
      const site = siteOf(context, name)
      site.isLowering = connections < site.allowed
      site.allowed = connections
      startRunners(context, site)
    },
    release(name) {
      const site = context.sites.get(name)
      if (site === undefined) return
      site.isLowering = false
      site.allowed = 0
      startRunners(context, site)
    },
    greeted(name) {
      const site = context.sites.get(name)
      if (site === undefined || site.hasGreeted) return
      site.hasGreeted = true
      deps.greeted(name)
    },
    recall(name) {
      for (const site of context.sites.values())
        if (site.site === name) putBackWaiting(context, site)
    },
    closeIdle: (idleMs) => closeIdle(context, idleMs),
    finish() {
      for (const site of context.sites.values()) putBackWaiting(context, site)
      return running.finish()
    },
    withdraw(tasks) {
      nextTasks.takeBackWhere((_, { task }) => tasks.has(task))
      running.withdraw(tasks)
      for (const { waiting } of context.pools.values())
        for (const { task } of waiting.take((one) => tasks.has(one.task)))
          deps.finished({ task, kind: 'put back', delayMs: 0 })
    },
    progressOf: (task) => running.currentOf(task) ?? progressOfWaiting(context, task),
  }
}

/** `since` is 0: the main thread knows since when the task has waited. */
function progressOfWaiting({ pools }: PoolsContext, task: number): CurrentStep | undefined {
  for (const { waiting } of pools.values())
    if (waiting.some((one) => one.task === task)) return { step: 'waiting', since: 0, peer: null }
  return undefined
}

function siteOf({ sites }: PoolsContext, name: string): SitePools {
  const site = sites.get(name) ?? { ...NEW_SITE, site: name, pools: new Map() }
  sites.set(name, site)
  return site
}

const NEW_SITE = { allowed: 0, isLowering: false, hasGreeted: false, open: 0 }

function setPool(context: PoolsContext, pool: PoolSettings): void {
  const known = context.pools.get(pool.key)
  if (known !== undefined) {
    known.pool = pool
    return
  }
  const waiting = createClassQueue<SmtpTask>((task) => task)
  const state = { pool, waiting, idle: [], runners: 0 }
  context.pools.set(pool.key, state)
  siteOf(context, pool.site).pools.set(pool.key, state)
}

function startRunners(context: PoolsContext, site: SitePools): void {
  for (const state of byUrgency(site)) {
    while (state.waiting.size() > 0 && takeConnection(context, site, state));
  }
  enforceAllocation(context, site)
}

/** Starts one more runner for a pool. Returns false if there is no connection for it. */
function takeConnection(context: PoolsContext, site: SitePools, state: ConnectionPool): boolean {
  if (site.open > site.allowed || isOutranked(site, state)) return false
  const idleSession = state.idle.pop()
  if (idleSession !== undefined) {
    run(context, { site, state, session: idleSession.session })
    return true
  }
  // The connection of another pool that is idle is free as soon as its session ends.
  if (site.open >= site.allowed && !closeOneIdle(context.deps, site)) return false
  site.open++
  run(context, { site, state, session: null })
  return true
}

function run(context: PoolsContext, start: Pick<PoolRunner, 'site' | 'state' | 'session'>): void {
  const runner: PoolRunner = { ...start, next: null, abandoned: null }
  runner.state.runners++
  runTasks(context, runner).catch((error: unknown) => {
    context.deps.warn(`a delivery runner failed: ${describeError(error)}`)
  })
}

async function runTasks(context: PoolsContext, runner: PoolRunner): Promise<void> {
  const { site, state } = runner
  const { deps, nextTasks } = context
  const next = () => nextTasks.begin(runner)
  for (;;) {
    const begun = nextTasks.take(runner) ?? beginTask(context, runner)
    if (begun === null) break
    const { task, ready, current, withdrawal } = begun
    const { session } = runner
    const input = { pool: state.pool, task, session, ready, current, withdrawal, next }
    const tried = await deps.tryTask(input)
    runner.session = tried.session
    deps.finished(tried.result)
    context.running.end(task.task)
    if (runner.session === null || site.open > site.allowed) nextTasks.takeBack(runner)
    if (runner.next !== null) continue
    const { session: spent } = tried
    if (spent !== null && isSpent(runner, spent)) {
      await closeSession(spent)
      runner.session = null
      if (moveToEnd(site, state)) break
    }
    if (isOutranked(site, state)) break
  }
  const { session } = runner
  state.runners--
  if (session !== null && site.open <= site.allowed) {
    state.idle.push({ session, since: deps.now() })
  } else closeConnection(deps, site, session)
  startRunners(context, site)
}

/** Whether the session may carry no more messages. */
function isSpent({ abandoned, state }: PoolRunner, session: SmtpSession): boolean {
  return session === abandoned || session.sendCount >= state.pool.messagesPerConnection
}

function beginTask({ running }: PoolsContext, { site, state }: PoolRunner): BegunTask | null {
  const task = site.open > site.allowed ? undefined : state.waiting.shift()
  return task === undefined ? null : { ...running.begin(task.task), task, ready: null }
}

/**
 * Closes idle sessions beyond the allocation, and confirms a lower allocation when it has taken
 * effect.
 */
function enforceAllocation(context: PoolsContext, site: SitePools): void {
  while (site.open > site.allowed && closeOneIdle(context.deps, site));
  if (site.allowed === 0) putBackWaiting(context, site)
  if (site.open > site.allowed) return
  const { isLowering } = site
  site.isLowering = false
  if (isLowering) context.deps.allocated(site.site, site.allowed)
  if (site.allowed > 0) return
  for (const key of site.pools.keys()) context.pools.delete(key)
  context.sites.delete(site.site)
}

function putBackWaiting(context: PoolsContext, site: SitePools): void {
  context.nextTasks.takeBackWhere((runner) => runner.site === site)
  for (const state of site.pools.values())
    for (const { task } of state.waiting.takeAll())
      context.deps.finished({ task, kind: 'put back' })
}

function closeIdle(context: PoolsContext, idleMs: number): void {
  const before = context.deps.now() - idleMs
  for (const site of context.sites.values())
    for (const state of site.pools.values()) {
      closeOldIdle(context.deps, { site, state, before })
      const { waiting, idle, runners, pool } = state
      if (waiting.size() > 0 || idle.length > 0 || runners > 0) continue
      // The settings of a pool come with every batch of tasks, so an unused one may be forgotten.
      context.pools.delete(pool.key)
      site.pools.delete(pool.key)
    }
}

/** Returns the pools with waiting tasks: the most urgent first, equal ones in order. */
function byUrgency(site: SitePools): ConnectionPool[] {
  const busy = [...site.pools.values()].filter(({ waiting }) => waiting.size() > 0)
  const rank = ({ waiting }: ConnectionPool) => waiting.peek()?.queueClass ?? 0
  return busy.length < 2 ? busy : busy.sort((left, right) => rank(left) - rank(right))
}

/** Puts a pool behind the others if any of them has waiting tasks. Returns whether it did. */
function moveToEnd(site: SitePools, state: ConnectionPool): boolean {
  const isAlone = [...site.pools.values()].every(
    (other) => other === state || other.waiting.size() === 0,
  )
  if (isAlone) return false
  site.pools.delete(state.pool.key)
  site.pools.set(state.pool.key, state)
  return true
}

/** Frees one connection. The server gets QUIT, and its reply is not awaited. */
function closeConnection(
  deps: Pick<NextTasksDeps, 'warn'>,
  site: SitePools,
  session: SmtpSession | null,
): void {
  site.open--
  if (session === null) return
  closeSession(session).catch((error: unknown) => {
    deps.warn(`a session could not be closed: ${describeError(error)}`)
  })
}

async function closeSession(session: SmtpSession): Promise<void> {
  if (session.isUsable) await session.quit()
  else session.close()
}

/**
 * Closes the session that has been idle for the longest time in the first pool that has one. Returns
 * false if there is none.
 */
function closeOneIdle(deps: Pick<NextTasksDeps, 'warn'>, site: SitePools): boolean {
  const pool = site.pools.values().find(({ idle }) => idle.length > 0)
  const oldest = pool?.idle.shift()
  if (oldest === undefined) return false
  closeConnection(deps, site, oldest.session)
  return true
}

/** Closes the sessions of a pool that were idle since `before`, epoch ms, or that have ended. */
function closeOldIdle(
  deps: Pick<NextTasksDeps, 'warn'>,
  { site, state, before }: { site: SitePools; state: ConnectionPool; before: number },
): void {
  const isOld = ({ session, since }: IdleSession) => since <= before || !session.isUsable
  const old = state.idle.filter(isOld)
  state.idle = state.idle.filter((idleSession) => !isOld(idleSession))
  for (const { session } of old) closeConnection(deps, site, session)
}
