/**
 * In a delivery thread: which task goes out on which connection. A site has a grant of connections;
 * its lanes (routes that may share connections) have tasks waiting and sessions kept open. A
 * runner holds one of the granted connections and takes one task of its lane after another; a
 * session that nobody needs is kept a while and closed, or gives way to another lane's.
 *
 * `open` counts runners and kept sessions until they are closed, so it never exceeds the grant but
 * for the moment in which a lower grant takes effect, which is reported when it has.
 */
import type { Now } from '../../clock.ts'
import { describeError } from '../../errors.ts'
import type { CurrentStep } from '../attempt.ts'
import { type ClassQueue, createClassQueue } from '../class-queue.ts'
import type { PoolSettings, TaskResult, ThreadTask } from '../protocol.ts'
import type { Session } from '../smtp/session.ts'
import type { Tried, TryInput } from './try-task.ts'

export type PoolDeps = {
  tryTask(input: TryInput): Promise<Tried>
  report(result: TaskResult): void
  /** The site has no more than its grant open. */
  allocated(site: string, connections: number): void
  /** Told once, as long as the site has connections. */
  greeted(site: string): void
  warn(text: string): void
  now: Now
}

export type ConnectionPools = {
  setPool(pool: PoolSettings): void
  add(task: ThreadTask): void
  /** Starts what may start; call after a batch of `add`. */
  start(): void
  allocate(site: string, connections: number): void
  /** A session has had its greeting. */
  greeted(site: string): void
  /** Hands back what has not begun. */
  recall(site?: string): void
  /** Closes sessions that nobody used for `idleMs`, and forgets lanes that nobody uses. */
  closeIdle(idleMs: number): void
  /** Resolves when no task is in hand. */
  settle(): Promise<void>
  tasksInHand(): number
  /** Where a task is; undefined when it is not here (any more). */
  progressOf(task: number): CurrentStep | undefined
}

type Pool = {
  pool: PoolSettings
  waiting: ClassQueue<ThreadTask>
  idle: IdleSession[]
  runners: number
}
type IdleSession = { session: Session; since: number }

type SiteState = {
  site: string
  allowed: number
  /** A lower grant was asked for and not yet answered. */
  isLowering: boolean
  hasGreeted: boolean
  open: number
  /** Of the open ones, those on their way out. */
  closing: number
  pools: Map<string, Pool>
}

type Context = {
  deps: PoolDeps
  sites: Map<string, SiteState>
  pools: Map<string, Pool>
  inHand: Map<number, CurrentStep>
  settled: (() => void)[]
}

export function createConnectionPools(deps: PoolDeps): ConnectionPools {
  const context: Context = {
    deps,
    sites: new Map(),
    pools: new Map(),
    inHand: new Map(),
    settled: [],
  }
  const touched = new Set<SiteState>()
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
    greeted(name) {
      const site = context.sites.get(name)
      if (site === undefined || site.hasGreeted) return
      site.hasGreeted = true
      deps.greeted(name)
    },
    recall(name) {
      for (const site of context.sites.values())
        if (name === undefined || site.site === name) putBackWaiting(context, site)
    },
    closeIdle: (idleMs) => closeIdle(context, idleMs),
    settle() {
      if (context.inHand.size === 0) return Promise.resolve()
      return new Promise((resolve) => context.settled.push(resolve))
    },
    tasksInHand: () => context.inHand.size,
    progressOf: (task) => context.inHand.get(task) ?? progressOfWaiting(context, task),
  }
}

/** Since when it has waited, only the main thread knows. */
function progressOfWaiting({ pools }: Context, task: number): CurrentStep | undefined {
  for (const { waiting } of pools.values())
    if (waiting.some((one) => one.task === task)) return { step: 'waiting', since: 0, peer: null }
  return undefined
}

function siteOf({ sites }: Context, name: string): SiteState {
  const known = sites.get(name)
  if (known !== undefined) return known
  const site = { ...NEW_SITE, site: name, pools: new Map() }
  sites.set(name, site)
  return site
}

const NEW_SITE = { allowed: 0, isLowering: false, hasGreeted: false, open: 0, closing: 0 }

function setPool(context: Context, pool: PoolSettings): void {
  const known = context.pools.get(pool.key)
  if (known !== undefined) {
    known.pool = pool
    return
  }
  const waiting = createClassQueue<ThreadTask>((task) => task)
  const state = { pool, waiting, idle: [], runners: 0 }
  context.pools.set(pool.key, state)
  siteOf(context, pool.site).pools.set(pool.key, state)
}

function startRunners(context: Context, site: SiteState): void {
  for (const state of byUrgency(site)) {
    while (state.waiting.size() > 0 && takeConnection(context, site, state));
  }
  enforceAllocation(context, site)
}

/** Lanes with something to send, those with the most urgent first, else as they take turns. */
function byUrgency(site: SiteState): Pool[] {
  const busy = [...site.pools.values()].filter(({ waiting }) => waiting.size() > 0)
  const rank = ({ waiting }: Pool) => waiting.peek()?.queueClass ?? 0
  return busy.length < 2 ? busy : busy.sort((left, right) => rank(left) - rank(right))
}

/** Puts one more runner on a lane; false when there is no connection for it. */
function takeConnection(context: Context, site: SiteState, state: Pool): boolean {
  if (site.open > site.allowed || isOutranked(site, state)) return false
  const kept = state.idle.pop()
  if (kept !== undefined) {
    run(context, { site, state, session: kept.session })
    return true
  }
  if (site.open < site.allowed) {
    site.open++
    run(context, { site, state, session: null })
    return true
  }
  // Another lane's idle session makes room; the place is free once it is closed.
  if (site.closing > 0) return false
  const other = [...site.pools.values()].find((pool) => pool.idle.length > 0)
  const given = other?.idle.shift()
  if (given !== undefined) closeConnection(context, site, given.session)
  return false
}

type Runner = { site: SiteState; state: Pool; session: Session | null }

function run(context: Context, runner: Runner): void {
  runner.state.runners++
  runTasks(context, runner).catch((error: unknown) => {
    context.deps.warn(`a delivery runner failed: ${describeError(error)}`)
  })
}

/** More urgent mail of other lanes waits than there are connections on their way to it. */
function isOutranked(site: SiteState, state: Pool): boolean {
  const own = state.waiting.peek()
  if (own === undefined || site.pools.size === 1) return false
  let places = Math.max(0, site.allowed - site.open) + site.closing
  for (const other of site.pools.values()) {
    const first = other === state ? undefined : other.waiting.peek()
    if (first !== undefined && first.queueClass < own.queueClass) places--
  }
  return places < 0
}

async function runTasks(context: Context, runner: Runner): Promise<void> {
  const { site, state } = runner
  const { deps } = context
  let session = runner.session
  for (;;) {
    const task = site.open > site.allowed ? undefined : state.waiting.shift()
    if (task === undefined) break
    const current: CurrentStep = { step: 'waiting', since: deps.now(), peer: null }
    context.inHand.set(task.task, current)
    const tried = await deps.tryTask({ pool: state.pool, task, session, current })
    session = tried.session
    deps.report(tried.result)
    endTask(context, task)
    if (session !== null && session.sendCount >= state.pool.messagesPerConnection) {
      await close(session)
      session = null
      if (moveToEnd(site, state)) break
    }
    if (isOutranked(site, state)) break
  }
  state.runners--
  if (session !== null && site.open <= site.allowed) {
    state.idle.push({ session, since: deps.now() })
    return startRunners(context, site)
  }
  await closeConnection(context, site, session)
}

/** Where others wait, a lane goes behind them after as many messages as a connection carries. */
function moveToEnd(site: SiteState, state: Pool): boolean {
  const isAlone = [...site.pools.values()].every(
    (other) => other === state || other.waiting.size() === 0,
  )
  if (isAlone) return false
  site.pools.delete(state.pool.key)
  site.pools.set(state.pool.key, state)
  return true
}

function endTask(context: Context, { task }: ThreadTask): void {
  context.inHand.delete(task)
  if (context.inHand.size > 0) return
  for (const resolve of context.settled.splice(0)) resolve()
}

/** Gives up one open connection. */
async function closeConnection(
  context: Context,
  site: SiteState,
  session: Session | null,
): Promise<void> {
  site.closing++
  if (session !== null) await close(session)
  site.closing--
  site.open--
  startRunners(context, site)
}

async function close(session: Session): Promise<void> {
  if (session.isUsable) await session.quit()
  else session.close()
}

/** Closes idle sessions beyond the grant, and answers a lower one once it is kept. */
function enforceAllocation(context: Context, site: SiteState): void {
  if (site.open - site.closing > site.allowed) closeExcess(context, site)
  if (site.allowed === 0) putBackWaiting(context, site)
  if (site.open > site.allowed) return
  const { isLowering } = site
  site.isLowering = false
  if (isLowering) context.deps.allocated(site.site, site.allowed)
  if (site.allowed === 0) forgetSite(context, site)
}

function closeExcess(context: Context, site: SiteState): void {
  const idle = [...site.pools.values()].flatMap((state) =>
    state.idle.map((kept) => ({ state, kept })),
  )
  for (const { state, kept } of idle.slice(0, site.open - site.closing - site.allowed)) {
    state.idle.splice(state.idle.indexOf(kept), 1)
    void closeConnection(context, site, kept.session)
  }
}

function putBackWaiting(context: Context, site: SiteState): void {
  for (const state of site.pools.values())
    for (const { task } of state.waiting.takeAll()) context.deps.report({ task, kind: 'put back' })
}

function forgetSite(context: Context, site: SiteState): void {
  for (const key of site.pools.keys()) context.pools.delete(key)
  context.sites.delete(site.site)
}

function closeIdle(context: Context, idleMs: number): void {
  const before = context.deps.now() - idleMs
  for (const site of context.sites.values())
    for (const state of site.pools.values()) {
      const isOld = ({ session, since }: IdleSession) => since <= before || !session.isUsable
      const old = state.idle.filter(isOld)
      state.idle = state.idle.filter((kept) => !isOld(kept))
      for (const { session } of old) void closeConnection(context, site, session)
      if (isUnused(state)) forgetPool(context, site, state)
    }
}

/** A lane comes along with every task, so one that nobody uses need not be remembered. */
function isUnused({ waiting, idle, runners }: Pool): boolean {
  return waiting.size() === 0 && idle.length === 0 && runners === 0
}

function forgetPool({ pools }: Context, site: SiteState, { pool }: Pool): void {
  pools.delete(pool.key)
  site.pools.delete(pool.key)
}
