/**
 * The mail queue: claims due emails under a lease and hands them to delivery.
 *
 * The rows are the queue; `lanes` only remembers where to look. Before a lane is claimed from,
 * outbound says how much its site may take now, so a full or dead site is never leased more than
 * it can work on. The next attempt's time is written with the lease, before anybody dials: a crash
 * loop cannot hammer a receiver. What a crash leaves in SENDING is found at the next start; the
 * leases of what is in hand are renewed while it is.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { MINUTE_MS } from '../../../clock.ts'
import { describeError } from '../../../errors.ts'
import { newId } from '../../../store/ids.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import type { Deliverer } from '../delivery/deliverer.ts'
import { type ClaimedEmail, claimLane, findNextDue } from './claim.ts'
import { createGiveUp, type GiveUp } from './give-up.ts'
import { releaseStray } from './holds.ts'
import { createLanes, type Lanes } from './lanes.ts'
import { mendClock, recoverLeases, renewLeases } from './leases.ts'
import type { QueueLane, QueueNotice, QueueNotifier } from './notifier.ts'
import { type Claim, planClaims } from './plan-claims.ts'
import { deferWaiting } from './put-back.ts'
import { createReload } from './reload-lanes.ts'
import type { Throttle } from './throttle.ts'

export const LEASE_MS = 30_000
const RENEW_EVERY_MS = 10_000
const SWEEP_EVERY_MS = MINUTE_MS
/** Due lanes of a class that are looked at in one turn of the event loop. */
const MAX_VISITS = 400
/** So many looks in which nothing can be claimed, and the queue rests. */
const MAX_VAIN_LOOKS = 5
/** Lanes of sites that take nothing, and emails of all of them, that are told so in one transaction. */
const PAUSED_LANES = 100
const PAUSED_BATCH = 500
/** How soon a site that was full or resting is looked at again when nothing rings before. */
const RECHECK_MS = 500

export type Queue = {
  /** No new claims; what is in hand is delivery's to finish or return. */
  stop(): Promise<void>
}

export type QueueDeps = Pick<
  Base,
  'store' | 'config' | 'outbound' | 'directory' | 'counters' | 'now' | 'log'
> & { throttle: Throttle; queueNotifier: QueueNotifier }

type QueueState = {
  core: QueueDeps
  delivery: Deliverer
  lanes: Lanes
  leaseId: string
  /** Looks at the whole queue. */
  reload: () => Promise<void>
  giveUp: GiveUp
  /** On the monotonic clock. */
  startedAt: number
  vainLooks: number
  isStopping: boolean
  wake: () => void
}

export function startQueue(core: QueueDeps, delivery: Deliverer): Queue {
  const alarm = createAlarm()
  const lanes = createLanes()
  const state: QueueState = {
    core,
    delivery,
    lanes,
    leaseId: newId(),
    reload: createReload(core.store, lanes),
    giveUp: createGiveUp(core),
    startedAt: performance.now(),
    vainLooks: 0,
    isStopping: false,
    wake: alarm.ring,
  }
  const upkeep = createUpkeep(state)
  const stopListening = core.queueNotifier.listen((call) => hear(state, call, upkeep.run))
  // What came of a message could not be recorded: it would be sent again.
  const stopRecalling = core.store.onFilesLost(delivery.recallAll)
  const renewal = setInterval(
    () => upkeep.run(() => renewLeases(core, delivery.inHand(), core.now() + LEASE_MS)),
    RENEW_EVERY_MS,
  )
  const sweep = setInterval(() => upkeep.run(() => sweepQueue(state)), SWEEP_EVERY_MS)
  const loop = runLoop(state, alarm.wait)
  return {
    stop: async () => {
      state.isStopping = true
      delivery.stop()
      stopListening()
      stopRecalling()
      clearInterval(renewal)
      clearInterval(sweep)
      state.wake()
      await loop
      await upkeep.ended()
    },
  }
}

function hear(
  state: QueueState,
  call: QueueNotice,
  run: (act: () => Promise<unknown>) => void,
): void {
  if (call === 'anywhere') {
    run(() => state.delivery.recall())
    run(() => state.reload().then(state.wake))
  } else if (call !== 'capacity') state.lanes.note(call, call.dueAt)
  state.wake()
}

/** A pause that a ring ends; a ring before the pause is not lost. */
function createAlarm() {
  let isRung = false
  let release: (() => void) | undefined
  function ring(): void {
    isRung = true
    release?.()
  }
  async function wait(ms: number): Promise<void> {
    if (!isRung) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms)
      release = resolve
      await promise
      clearTimeout(timer)
      release = undefined
    }
    isRung = false
  }
  return { ring, wait }
}

/** Work beside the loop: its failures are logged, and a stop waits for it. */
function createUpkeep(state: QueueState) {
  const running = new Set<Promise<unknown>>()
  function run(act: () => Promise<unknown>): void {
    if (state.isStopping) return
    const work = guard(state.core, act).finally(() => running.delete(work))
    running.add(work)
  }
  return { run, ended: () => Promise.all(running) }
}

async function runLoop(state: QueueState, pause: (ms: number) => Promise<void>): Promise<void> {
  const { core } = state
  await guard(core, () => openQueue(state))
  while (!state.isStopping) {
    const waitMs = await guard(core, () => claimAndDeliver(state))
    if (state.isStopping) return
    if (waitMs !== 0) await pause(waitMs ?? 1_000)
  }
}

/** A failure of the queue's own housekeeping (a full disk) is logged, and tried again later. */
async function guard<T>({ log }: Pick<Base, 'log'>, act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    log.error({ error: describeError(error) }, 'the mail queue could not work')
    return undefined
  }
}

/** Claims what may go now and hands it over; tells how long to wait before looking again. */
async function claimAndDeliver(state: QueueState): Promise<number> {
  const { core, delivery, lanes } = state
  const due = lanes.listDue(core.now(), MAX_VISITS)
  const paused = listPaused(core, due)
  if (paused.length > 0) await deferPaused(state, paused)
  const open = paused.length > 0 ? lanes.listDue(core.now(), MAX_VISITS) : due
  const claims = planClaims(core, open)
  if (claims.length === 0) return paused.length > 0 ? 0 : lookOn(state, open.length)
  state.vainLooks = 0
  const claimed = await core.store.write((tx) => claimAll(state, tx, claims))
  lanes.served(claims.map(({ lane }) => lane))
  await delivery.deliver(claimed)
  return 0
}

type PausedLane = { lane: QueueLane; until: number; reason: string }

function listPaused({ outbound }: QueueDeps, due: readonly QueueLane[]): PausedLane[] {
  const paused: PausedLane[] = []
  for (const lane of due) {
    const pause = outbound.pauseOf(outbound.siteOf(lane.domain))
    if (pause !== null) paused.push({ lane, ...pause })
    if (paused.length === PAUSED_LANES) break
  }
  return paused
}

/**
 * Their mail stays due: what is remembered of the lane is when its site may be tried again. What
 * was told before is not looked at again: a backlog is long.
 */
async function deferPaused(
  { core, lanes }: QueueState,
  paused: readonly PausedLane[],
): Promise<void> {
  await core.store.write(async (tx) => {
    const at = core.now()
    let limit = PAUSED_BATCH
    for (const { lane, until, reason } of paused) {
      if (limit === 0) return
      const from = lanes.dueAt(lane) ?? 0
      const { count, told } = await deferWaiting(tx, { lane, reason, from, at, limit })
      limit -= count
      tx.afterCommit(() => lanes.settle(lane, told ?? until))
    }
  })
}

/** After a look at so many due lanes, none of which could be claimed from, others get a turn. */
async function lookOn(state: QueueState, visited: number): Promise<number> {
  state.vainLooks += 1
  if (visited < MAX_VISITS || state.vainLooks === MAX_VAIN_LOOKS) {
    state.vainLooks = 0
    return idleMs(state, visited > 0)
  }
  await turn()
  return 0
}

function idleMs({ lanes, core }: QueueState, isSomethingDue: boolean): number {
  if (isSomethingDue) return RECHECK_MS
  const nextDueAt = lanes.nextDueAt()
  if (nextDueAt === undefined) return SWEEP_EVERY_MS
  return Math.min(SWEEP_EVERY_MS, Math.max(1, nextDueAt - core.now()))
}

async function claimAll(state: QueueState, tx: Tx, claims: Claim[]): Promise<ClaimedEmail[]> {
  const claimed: ClaimedEmail[] = []
  for (const claim of claims) claimed.push(...(await claimOne(state, tx, claim)))
  return claimed
}

async function claimOne(
  { core, lanes, leaseId }: QueueState,
  tx: Tx,
  { lane, limit }: Claim,
): Promise<ClaimedEmail[]> {
  const now = core.now()
  const claimed = await tx.list(claimLane, {
    ...lane,
    now,
    limit,
    leaseId,
    leaseUntil: now + LEASE_MS,
    delays: JSON.stringify(core.config.delivery.retrySchedule),
  })
  tx.afterCommit(() => core.throttle.spend(lane.projectId, claimed.length))
  if (claimed.length < limit) {
    const next = await tx.find(findNextDue, lane)
    tx.afterCommit(() => lanes.settle(lane, next?.dueAt ?? null))
  }
  return claimed
}

/** At the start every lease is somebody's who is gone: one server runs at a time (`serve-lock.ts`). */
async function openQueue(state: QueueState): Promise<void> {
  const { core } = state
  await mendClock(core)
  const recovered = await recoverLeases(core, { until: Number.MAX_SAFE_INTEGER, except: [] })
  logRecovered(core, recovered)
  await releaseStray(core)
  await state.reload()
}

async function sweepQueue(state: QueueState): Promise<void> {
  const { core, delivery } = state
  const except = delivery.inHand()
  logRecovered(core, await recoverLeases(core, { until: core.now(), except }))
  await mendClock(core)
  await releaseStray(core)
  await state.giveUp(performance.now() - state.startedAt)
  await state.reload()
  state.wake()
}

function logRecovered({ log }: Pick<Base, 'log'>, emails: number): void {
  if (emails > 0) log.warn({ emails }, 'returned to the queue: their sender is gone')
}
