/**
 * The mail queue: claims due emails under a lease and hands them to delivery.
 *
 * The rows are the queue; `lanes` has the lanes with due mail. Before each claim, outbound returns
 * how many emails the site can take now and whether a connection is free for it, so no emails are
 * claimed for a full or unreachable site. The claim writes the time of the next attempt before the connection is opened: a server that
 * crashes repeatedly does not overload a receiver. The next start finds the emails that a crash
 * leaves in SENDING. The queue renews the leases of emails in flight.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import { min, sql } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Store } from '../../../../store/store.ts'
import { runFor, SYSTEM_OWNER } from '../../../../turns/owner.ts'
import { type Beside, createBeside } from '../../../../work/beside.ts'
import { type Loop, runEvery, startLoop } from '../../../../work/loop.ts'
import type { Base } from '../../../ground/base.ts'
import type { Deliverer } from '../delivery/deliverer.ts'
import { claimFromLanes, LEASE_MS, planClaims } from './claim.ts'
import { createGiveUp, type GiveUp } from './give-up.ts'
import { releaseStray } from './holds.ts'
import type { DueLane, Lanes } from './lanes.ts'
import { correctDueTimes, recoverLeases, renewLeases } from './leases.ts'
import type { QueueLane, QueueNotice, QueueNotifier } from './notifier.ts'
import { deferWaiting } from './put-back.ts'
import type { Throttle } from './throttle.ts'

const RENEW_EVERY_MS = 10_000

const MAINTENANCE_EVERY_MS = MINUTE_MS

/** Due lanes of a class that are visited in one turn of the event loop. */
const MAX_VISITS = 100

/** After this many visits without a claim the queue pauses. */
const MAX_EMPTY_VISITS = 20

/**
 * The time between two claims, unless the first one was full, and between visits without a claim.
 * The time is shorter than that in which results are gathered (`delivery/record-results.ts`): a
 * claim that results make possible shares their commit. Mail that becomes due for another reason
 * waits for that claim, too.
 */
const CLAIM_EVERY_MS = 15

const FULL_CLAIM = 200

/** The wait before a full or paused site is checked again, unless a notice comes first. */
const RECHECK_MS = 500

/** The wait after a failure. */
const RETRY_MS = 1_000

type Queue = {
  /** Stops claiming; delivery finishes or puts back the emails in flight. */
  stop(): Promise<void>
}

type QueueDeps = Pick<
  Base,
  'store' | 'config' | 'outbound' | 'directory' | 'counters' | 'now' | 'log'
> & { throttle: Throttle; queueNotifier: QueueNotifier; lanes: Lanes }

type QueueLoopState = {
  core: QueueDeps
  delivery: Deliverer
  lanes: Lanes
  /** Reads the lanes of the whole queue. */
  reload: () => Promise<void>
  giveUp: GiveUp
  /** On the monotonic clock. */
  startedAt: number
  emptyVisits: number
  isOpen: boolean
  wake: () => void
}

/** The maximum per transaction: of lanes, and of emails in them. */
const PAUSED_LANES = 100

const PAUSED_BATCH = 500

type PausedLane = { lane: QueueLane; until: number; reason: string }

const PAGE = 1_000

const listLanes = statement((db) =>
  db
    .select({
      queueClass: emails.queueClass,
      domain: emails.recipientDomain,
      projectId: emails.projectId,
      dueAt: min(emails.dueAt),
    })
    .from(emails)
    .where(
      sql`due_at is not null and (queue_class, recipient_domain, project_id) >
        (${parameter('queueClass')}, ${parameter('domain')}, ${parameter('projectId')})`,
    )
    .groupBy(emails.queueClass, emails.recipientDomain, emails.projectId)
    .limit(PAGE),
)

type LanePosition = Omit<QueueLane, 'queueClass'> & { queueClass: number }

export function startQueue(core: QueueDeps, delivery: Deliverer): Queue {
  const { lanes } = core
  const state: QueueLoopState = {
    core,
    delivery,
    lanes,
    reload: createReload(core.store, lanes),
    giveUp: createGiveUp(core),
    startedAt: performance.now(),
    emptyVisits: 0,
    isOpen: false,
    wake: () => loop.wake(),
  }
  const onError = (error: unknown) => logFailure(core, error)
  const upkeep = createBeside(onError)
  // Without the database no outcome can be recorded, so the emails would be sent again.
  const stopRecalling = core.store.onFilesLost(delivery.recallAll)
  const clocked = [
    runEvery(RENEW_EVERY_MS, () =>
      upkeep.run(() => renewLeases(core, delivery.inFlight(), core.now() + LEASE_MS)),
    ),
    runEvery(MAINTENANCE_EVERY_MS, () => upkeep.run(() => maintainQueue(state))),
  ]
  const loop: Loop = startLoop({
    async run({ signal }) {
      // `open` runs once: if it fails, the maintenance does its work later.
      if (!state.isOpen) await open(state).catch(onError)
      return signal.aborted ? 0 : claimAndDeliver(state)
    },
    onError,
    wakes: [() => core.queueNotifier.listen((notice) => handleNotice(state, notice, upkeep))],
    maxWaitMs: MAINTENANCE_EVERY_MS,
    retryMs: RETRY_MS,
  })
  return {
    stop: async () => {
      delivery.stop()
      stopRecalling()
      const ends = [loop, ...clocked, upkeep].map(({ stop }) => stop())
      await Promise.all(ends)
    },
  }
}

function handleNotice(state: QueueLoopState, notice: QueueNotice, upkeep: Beside): void {
  if (notice === 'anywhere') {
    upkeep.run(() => state.delivery.recall())
    upkeep.run(() => state.reload().then(state.wake))
  } else if (notice !== 'capacity') state.lanes.addDueAt(notice, notice.dueAt)
  state.wake()
}

/** A failure of the queue itself, such as a full disk; the next round tries again. */
function logFailure({ log }: Pick<Base, 'log'>, error: unknown): void {
  log.error({ error: describeError(error) }, 'an operation of the mail queue failed')
}

/**
 * Claims the emails that may be sent now and hands them to delivery. Returns the wait before the
 * next round.
 */
async function claimAndDeliver(state: QueueLoopState): Promise<number> {
  const { core, delivery, lanes } = state
  const due = lanes.listDue(core.now(), MAX_VISITS)
  const paused = listPaused(core, due)
  if (paused.length > 0) await deferPaused({ ...core, lanes }, paused)
  const open = paused.length > 0 ? lanes.listDue(core.now(), MAX_VISITS) : due
  const { claims, considered } = planClaims(core, open)
  lanes.markVisited(considered)
  if (claims.length === 0) return paused.length > 0 ? 0 : continueOrPause(state, open.length)
  state.emptyVisits = 0
  const from = performance.now()
  const claimed = await core.store.write((tx) => claimFromLanes({ ...core, lanes }, tx, claims))
  const tookMs = performance.now() - from
  core.counters.observe('pillarbox_queue_batch_duration_seconds', tookMs, 'claim')
  lanes.markServed(claims.map(({ lane }) => lane))
  await delivery.deliver(claimed)
  if (claimed.length < FULL_CLAIM) await sleep(CLAIM_EVERY_MS)
  return 0
}

/** When no visited lane could be claimed from, visits the next ones, a few times in a row. */
async function continueOrPause(state: QueueLoopState, visited: number): Promise<number> {
  state.emptyVisits += 1
  if (visited < MAX_VISITS || state.emptyVisits === MAX_EMPTY_VISITS) {
    state.emptyVisits = 0
    return idleMs(state, visited > 0)
  }
  await sleep(CLAIM_EVERY_MS)
  return 0
}

function idleMs({ lanes, core }: QueueLoopState, isSomethingDue: boolean): number {
  if (isSomethingDue) return RECHECK_MS
  const nextDueAt = lanes.nextDueAt()
  if (nextDueAt === undefined) return MAINTENANCE_EVERY_MS
  return Math.min(MAINTENANCE_EVERY_MS, Math.max(1, nextDueAt - core.now()))
}

/** At the start every lease belongs to a process that ended: one server runs at a time. */
async function open(state: QueueLoopState): Promise<void> {
  const { core } = state
  state.isOpen = true
  await correctDueTimes(core)
  const recovered = await recoverLeases(core, { until: Number.MAX_SAFE_INTEGER, except: [] })
  logRecovered(core, recovered)
  await releaseStray(core)
  await state.reload()
}

async function maintainQueue(state: QueueLoopState): Promise<void> {
  const { core, delivery } = state
  const except = delivery.inFlight()
  logRecovered(core, await recoverLeases(core, { until: core.now(), except }))
  const isMailWaiting = await correctDueTimes(core)
  await releaseStray(core)
  if (isMailWaiting) await state.giveUp(performance.now() - state.startedAt)
  await state.reload()
  state.wake()
}

function logRecovered({ log }: Pick<Base, 'log'>, emails: number): void {
  if (emails > 0)
    log.warn(
      { emails },
      'emails were put back into the queue: the process that had claimed them has ended',
    )
}

/** Lists the due lanes to whose site nothing is sent now. */
function listPaused({ outbound }: Pick<Base, 'outbound'>, due: readonly DueLane[]): PausedLane[] {
  const paused: PausedLane[] = []
  for (const { lane } of due) {
    const pause = outbound.pauseOf(outbound.siteOf(lane.domain))
    if (pause !== null) paused.push({ lane, ...pause })
    if (paused.length === PAUSED_LANES) break
  }
  return paused
}

/**
 * Marks the due emails of paused lanes as deferred, with the reason. They stay due; the lane is
 * visited again when its site may be tried. Emails marked by an earlier call are skipped, because a
 * backlog can be long.
 */
async function deferPaused(
  { store, now, lanes }: Pick<Base, 'store' | 'now'> & { lanes: Lanes },
  paused: readonly PausedLane[],
): Promise<void> {
  await store.write(async (tx) => {
    const at = now()
    let limit = PAUSED_BATCH
    for (const { lane, until, reason } of paused) {
      if (limit === 0) return
      const from = lanes.dueAt(lane) ?? 0
      const { count, deferredUntil } = await deferWaiting(tx, { lane, reason, from, at, limit })
      limit -= count
      tx.afterCommit(() => lanes.setDueAt(lane, deferredUntil ?? until))
    }
  })
}

/**
 * Returns a function that reads the lanes of the whole queue, page by page; one run at a time. A call during a run
 * starts one more run after it, and resolves with that one.
 */
function createReload(store: Store, lanes: Lanes): () => Promise<void> {
  const read = () => runFor(SYSTEM_OWNER, () => readLanes(store, lanes))
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  return function reload() {
    if (running === undefined) {
      running = read().finally(() => {
        running = undefined
      })
      return running
    }
    next ??= running.then(
      () => follow(),
      () => follow(),
    )
    return next
  }
  function follow(): Promise<void> {
    next = undefined
    running = read().finally(() => {
      running = undefined
    })
    return running
  }
}

async function readLanes(store: Store, lanes: Lanes): Promise<void> {
  let position: LanePosition = { queueClass: 0, domain: '', projectId: '' }
  for (;;) {
    const page = await store.scan.list(listLanes, position)
    for (const { dueAt, ...lane } of page) if (dueAt !== null) lanes.addDueAt(lane, dueAt)
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    position = last
  }
}
