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
import { type ClassQueue, createClassQueue } from '../class-queue.ts'
import type { Lane, ThreadResult, ThreadTask } from '../protocol.ts'
import type { Session } from '../smtp/session.ts'
import type { CurrentStep } from './progress.ts'
import type { Tried, TryInput } from './try-task.ts'

export type LaneDeps = {
  tryTask(input: TryInput): Promise<Tried>
  report(result: ThreadResult): void
  /** The site has no more than its grant open. */
  granted(site: string, connections: number): void
  /** Told once, as long as the site has connections. */
  greeted(site: string): void
  warn(text: string): void
  now: Now
}

export type Lanes = {
  setLane(lane: Lane): void
  add(task: ThreadTask): void
  /** Starts what may start; call after a batch of `add`. */
  start(): void
  grant(site: string, connections: number): void
  /** A session has had its greeting. */
  hear(site: string): void
  /** Hands back what has not begun. */
  withdraw(site?: string): void
  /** Closes sessions that nobody used for `idleMs`, and forgets lanes that nobody uses. */
  closeIdle(idleMs: number): void
  /** Resolves when no task is in hand. */
  settle(): Promise<void>
  tasksInHand(): number
  /** Where a task is; undefined when it is not here (any more). */
  progressOf(task: number): CurrentStep | undefined
}

type LaneState = { lane: Lane; waiting: ClassQueue<ThreadTask>; kept: Kept[]; runners: number }
type Kept = { session: Session; since: number }

type SiteState = {
  site: string
  grant: number
  /** A lower grant was asked for and not yet answered. */
  isLowering: boolean
  isHeard: boolean
  open: number
  /** Of the open ones, those on their way out. */
  closing: number
  lanes: Map<string, LaneState>
}

type Context = {
  deps: LaneDeps
  sites: Map<string, SiteState>
  lanes: Map<string, LaneState>
  inHand: Map<number, CurrentStep>
  settled: (() => void)[]
}

export function createLanes(deps: LaneDeps): Lanes {
  const context: Context = {
    deps,
    sites: new Map(),
    lanes: new Map(),
    inHand: new Map(),
    settled: [],
  }
  const touched = new Set<SiteState>()
  return {
    setLane: (lane) => setLane(context, lane),
    add(task) {
      const state = context.lanes.get(task.lane)
      if (state === undefined) throw new TypeError(`a task for the unknown lane ${task.lane}`)
      state.waiting.push(task)
      touched.add(siteOf(context, state.lane.site))
    },
    start() {
      for (const site of touched) pump(context, site)
      touched.clear()
    },
    grant(name, connections) {
      const site = siteOf(context, name)
      site.isLowering = connections < site.grant
      site.grant = connections
      pump(context, site)
    },
    hear(name) {
      const site = context.sites.get(name)
      if (site === undefined || site.isHeard) return
      site.isHeard = true
      deps.greeted(name)
    },
    withdraw(name) {
      for (const site of context.sites.values())
        if (name === undefined || site.site === name) handBack(context, site)
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
function progressOfWaiting({ lanes }: Context, task: number): CurrentStep | undefined {
  for (const { waiting } of lanes.values())
    if (waiting.some((one) => one.task === task)) return { step: 'waiting', since: 0, peer: null }
  return undefined
}

function siteOf({ sites }: Context, name: string): SiteState {
  const known = sites.get(name)
  if (known !== undefined) return known
  const site = { ...newSite, site: name, lanes: new Map() }
  sites.set(name, site)
  return site
}

const newSite = { grant: 0, isLowering: false, isHeard: false, open: 0, closing: 0 }

function setLane(context: Context, lane: Lane): void {
  const known = context.lanes.get(lane.key)
  if (known !== undefined) {
    known.lane = lane
    return
  }
  const waiting = createClassQueue<ThreadTask>((task) => task)
  const state = { lane, waiting, kept: [], runners: 0 }
  context.lanes.set(lane.key, state)
  siteOf(context, lane.site).lanes.set(lane.key, state)
}

function pump(context: Context, site: SiteState): void {
  for (const state of byUrgency(site)) {
    while (state.waiting.size() > 0 && takeConnection(context, site, state));
  }
  shed(context, site)
}

/** Lanes with something to send, those with the most urgent first, else as they take turns. */
function byUrgency(site: SiteState): LaneState[] {
  const busy = [...site.lanes.values()].filter(({ waiting }) => waiting.size() > 0)
  const rank = ({ waiting }: LaneState) => waiting.peek()?.queueClass ?? 0
  return busy.length < 2 ? busy : busy.sort((left, right) => rank(left) - rank(right))
}

/** Puts one more runner on a lane; false when there is no connection for it. */
function takeConnection(context: Context, site: SiteState, state: LaneState): boolean {
  if (site.open > site.grant || isOutranked(site, state)) return false
  const kept = state.kept.pop()
  if (kept !== undefined) {
    run(context, { site, state, session: kept.session })
    return true
  }
  if (site.open < site.grant) {
    site.open++
    run(context, { site, state, session: null })
    return true
  }
  // Another lane's idle session makes room; the place is free once it is closed.
  if (site.closing > 0) return false
  const other = [...site.lanes.values()].find((lane) => lane.kept.length > 0)
  const given = other?.kept.shift()
  if (given !== undefined) leave(context, site, given.session)
  return false
}

type Runner = { site: SiteState; state: LaneState; session: Session | null }

function run(context: Context, runner: Runner): void {
  runner.state.runners++
  runTasks(context, runner).catch((error: unknown) => {
    context.deps.warn(`a delivery runner failed: ${describeError(error)}`)
  })
}

/** More urgent mail of other lanes waits than there are connections on their way to it. */
function isOutranked(site: SiteState, state: LaneState): boolean {
  const own = state.waiting.peek()
  if (own === undefined || site.lanes.size === 1) return false
  let places = Math.max(0, site.grant - site.open) + site.closing
  for (const other of site.lanes.values()) {
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
    const task = site.open > site.grant ? undefined : state.waiting.shift()
    if (task === undefined) break
    const current: CurrentStep = { step: 'waiting', since: deps.now(), peer: null }
    context.inHand.set(task.task, current)
    const tried = await deps.tryTask({ lane: state.lane, task, session, current })
    session = tried.session
    deps.report(tried.result)
    endTask(context, task)
    if (session !== null && session.sendCount >= state.lane.messagesPerConnection) {
      await close(session)
      session = null
      if (yieldTurn(site, state)) break
    }
    if (isOutranked(site, state)) break
  }
  state.runners--
  if (session !== null && site.open <= site.grant) {
    state.kept.push({ session, since: deps.now() })
    return pump(context, site)
  }
  await leave(context, site, session)
}

/** Where others wait, a lane goes behind them after as many messages as a connection carries. */
function yieldTurn(site: SiteState, state: LaneState): boolean {
  const isAlone = [...site.lanes.values()].every(
    (other) => other === state || other.waiting.size() === 0,
  )
  if (isAlone) return false
  site.lanes.delete(state.lane.key)
  site.lanes.set(state.lane.key, state)
  return true
}

function endTask(context: Context, { task }: ThreadTask): void {
  context.inHand.delete(task)
  if (context.inHand.size > 0) return
  for (const resolve of context.settled.splice(0)) resolve()
}

/** Gives up one open connection. */
async function leave(context: Context, site: SiteState, session: Session | null): Promise<void> {
  site.closing++
  if (session !== null) await close(session)
  site.closing--
  site.open--
  pump(context, site)
}

async function close(session: Session): Promise<void> {
  if (session.isUsable) await session.quit()
  else session.close()
}

/** Closes idle sessions beyond the grant, and answers a lower one once it is kept. */
function shed(context: Context, site: SiteState): void {
  if (site.open - site.closing > site.grant) closeExcess(context, site)
  if (site.grant === 0) handBack(context, site)
  if (site.open > site.grant) return
  const { isLowering } = site
  site.isLowering = false
  if (isLowering) context.deps.granted(site.site, site.grant)
  if (site.grant === 0) forgetSite(context, site)
}

function closeExcess(context: Context, site: SiteState): void {
  const idle = [...site.lanes.values()].flatMap((state) =>
    state.kept.map((kept) => ({ state, kept })),
  )
  for (const { state, kept } of idle.slice(0, site.open - site.closing - site.grant)) {
    state.kept.splice(state.kept.indexOf(kept), 1)
    void leave(context, site, kept.session)
  }
}

function handBack(context: Context, site: SiteState): void {
  for (const state of site.lanes.values())
    for (const { task } of state.waiting.takeAll()) context.deps.report({ task, kind: 'returned' })
}

function forgetSite(context: Context, site: SiteState): void {
  for (const key of site.lanes.keys()) context.lanes.delete(key)
  context.sites.delete(site.site)
}

function closeIdle(context: Context, idleMs: number): void {
  const before = context.deps.now() - idleMs
  for (const site of context.sites.values())
    for (const state of site.lanes.values()) {
      const isOld = ({ session, since }: Kept) => since <= before || !session.isUsable
      const old = state.kept.filter(isOld)
      state.kept = state.kept.filter((kept) => !isOld(kept))
      for (const { session } of old) void leave(context, site, session)
      if (isUnused(state)) forgetLane(context, site, state)
    }
}

/** A lane comes along with every task, so one that nobody uses need not be remembered. */
function isUnused({ waiting, kept, runners }: LaneState): boolean {
  return waiting.size() === 0 && kept.length === 0 && runners === 0
}

function forgetLane({ lanes }: Context, site: SiteState, { lane }: LaneState): void {
  lanes.delete(lane.key)
  site.lanes.delete(lane.key)
}
