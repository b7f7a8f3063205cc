/**
 * The mail queue: claims due emails under a lease and hands them to delivery.
 *
 * The rows are the queue; `lanes` only remembers where to look. Before a lane is claimed from,
 * outbound says how much its site may take now, so a full or dead site is never leased more than
 * it can work on. The next attempt's time is written with the lease, before anybody dials: a crash
 * loop cannot hammer a receiver. What a crash leaves in SENDING returns when its lease ends; our
 * own leases are renewed while we live.
 */
import { describeError } from '../../errors.ts'
import { and, eq, isNotNull, lte, min, ne, sql } from '../../store/drizzle.ts'
import { newId } from '../../store/ids.ts'
import { emails } from '../../store/schema.ts'
import { parameter, statement, type Tx } from '../../store/store.ts'
import type { Core } from '../core.ts'
import type { QueueCall } from './bell.ts'
import type { Delivery } from './deliver.ts'
import { giveUpOverdue } from './give-up.ts'
import { createLanes, type DueLane, type Lanes } from './lanes.ts'
import { createThrottle, type Throttle } from './throttle.ts'

const LEASE_MS = 30_000
const RENEW_EVERY_MS = 10_000
const SWEEP_EVERY_MS = 60_000
/** Emails claimed in one transaction, and from one lane in it, so that lanes take turns. */
const BATCH = 400
const LANE_BATCH = 100
const MAX_VISITS = 2_000
/** How soon a site that was full or resting is looked at again when nothing rings before. */
const RECHECK_MS = 500

export type Queue = {
  /** No new claims; what is in hand is delivery's to finish or return. */
  stop(): Promise<void>
}

export type QueueDeps = Pick<Core, 'store' | 'config' | 'outbound' | 'bell' | 'now' | 'log'>

type Claim = { lane: DueLane; limit: number }

type QueueState = {
  core: QueueDeps
  delivery: Delivery
  lanes: Lanes
  throttle: Throttle
  leaseId: string
  isStopping: boolean
  wake: () => void
}

const claimLane = statement((db) =>
  db
    .update(emails)
    .set({
      state: 'sending',
      status: 'SENDING',
      dueAt: null,
      retryAt: sql`${parameter('now')} + ${retryDelaySql()}`,
      leaseId: parameter('leaseId'),
      leaseUntil: parameter('leaseUntil'),
      attemptCount: sql`${emails.attemptCount} + 1`,
      updatedAt: parameter('now'),
    })
    .where(
      sql`${emails.id} in (select id from emails where due_at is not null
        and queue_class = ${parameter('queueClass')}
        and recipient_domain = ${parameter('domain')}
        and project_id = ${parameter('projectId')}
        and due_at <= ${parameter('now')}
        order by due_at limit ${parameter('limit')})`,
    )
    .returning({ id: emails.id }),
)

const findNextDue = statement((db) =>
  db
    .select({ dueAt: min(emails.dueAt) })
    .from(emails)
    .where(
      sql`due_at is not null and queue_class = ${parameter('queueClass')}
        and recipient_domain = ${parameter('domain')}
        and project_id = ${parameter('projectId')}`,
    ),
)

/** The delay after `failure_count` failures; `delays` is the schedule as a JSON array of ms. */
function retryDelaySql() {
  return sql`cast(json_extract(${parameter('delays')},
    '$[' || min(${emails.failureCount}, json_array_length(${parameter('delays')}) - 1) || ']')
    * (85 + abs(random() % 31)) / 100 as integer)`
}

export function startQueue(core: QueueDeps, delivery: Delivery): Queue {
  const alarm = createAlarm()
  const state: QueueState = {
    core,
    delivery,
    lanes: createLanes(),
    throttle: createThrottle(core.config.limits.emailsPerSecond, core.now),
    leaseId: newId(),
    isStopping: false,
    wake: alarm.ring,
  }
  const stopListening = core.bell.listen((call) => hear(state, call))
  const renewal = setInterval(() => void guard(core, () => renewLeases(state)), RENEW_EVERY_MS)
  const sweep = setInterval(() => void guard(core, () => sweepQueue(state)), SWEEP_EVERY_MS)
  const loop = runLoop(state, alarm.wait)
  return {
    stop: async () => {
      state.isStopping = true
      stopListening()
      clearInterval(renewal)
      clearInterval(sweep)
      state.wake()
      await loop
    },
  }
}

function hear(state: QueueState, call: QueueCall): void {
  if (call === 'anywhere') void guard(state.core, () => reloadLanes(state)).then(state.wake)
  else if (call !== 'capacity') state.lanes.note(call, state.core.now())
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

async function runLoop(state: QueueState, pause: (ms: number) => Promise<void>): Promise<void> {
  const { core } = state
  await guard(core, () => recoverLost(state, core.now() + LEASE_MS))
  await guard(core, () => sweepQueue(state))
  while (!state.isStopping) {
    const waitMs = await guard(core, () => claimAndDeliver(state))
    if (state.isStopping) return
    if (waitMs !== 0) await pause(waitMs ?? 1_000)
  }
}

/** A failure of the queue's own housekeeping (a full disk) is logged, and tried again later. */
async function guard<T>({ log }: Pick<Core, 'log'>, act: () => Promise<T>): Promise<T | undefined> {
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
  const claims = planClaims(state)
  if (claims.length === 0) return idleMs(lanes.nextDueAt(), core.now())
  const ids = await core.store.write((tx) => claimAll(state, tx, claims))
  if (ids.length > 0) await delivery.deliver(ids)
  return ids.length === 0 ? idleMs(lanes.nextDueAt(), core.now()) : 0
}

function idleMs(nextDueAt: number | undefined, now: number): number {
  if (nextDueAt === undefined) return SWEEP_EVERY_MS
  return Math.min(SWEEP_EVERY_MS, Math.max(RECHECK_MS, nextDueAt - now))
}

function planClaims({ core, lanes, throttle }: QueueState): Claim[] {
  const claims: Claim[] = []
  const planned = new Map<string, number>()
  let total = 0
  for (const lane of lanes.takeDue(core.now(), MAX_VISITS)) {
    const site = core.outbound.siteOf(lane.domain)
    const capacity = core.outbound.capacity(site, lane.queueClass) - (planned.get(site) ?? 0)
    const limit = Math.min(
      capacity,
      LANE_BATCH,
      BATCH - total,
      throttle.allowance(lane.projectId) - (planned.get(lane.projectId) ?? 0),
    )
    if (limit < 1) continue
    claims.push({ lane, limit })
    planned.set(site, (planned.get(site) ?? 0) + limit)
    planned.set(lane.projectId, (planned.get(lane.projectId) ?? 0) + limit)
    total += limit
    if (total >= BATCH) break
  }
  return claims
}

async function claimAll(state: QueueState, tx: Tx, claims: Claim[]): Promise<string[]> {
  const ids: string[] = []
  for (const claim of claims) ids.push(...(await claimOne(state, tx, claim)))
  return ids
}

async function claimOne(
  { core, lanes, throttle, leaseId }: QueueState,
  tx: Tx,
  { lane, limit }: Claim,
): Promise<string[]> {
  const now = core.now()
  const { queueClass, domain, projectId } = lane
  const rows = await tx.list(claimLane, {
    queueClass,
    domain,
    projectId,
    now,
    limit,
    leaseId,
    leaseUntil: now + LEASE_MS,
    delays: JSON.stringify(core.config.delivery.retrySchedule),
  })
  throttle.spend(projectId, rows.length)
  if (rows.length < limit) {
    const next = await tx.find(findNextDue, { queueClass, domain, projectId })
    lanes.settle(lane, next?.dueAt ?? null)
  }
  return rows.map((row) => row.id)
}

/** Looks at the whole queue: at the start, and when another process wrote. */
async function reloadLanes({ core, lanes }: QueueState): Promise<void> {
  const rows = await core.store.scan
    .select({
      queueClass: emails.queueClass,
      domain: emails.recipientDomain,
      projectId: emails.projectId,
      dueAt: min(emails.dueAt),
    })
    .from(emails)
    .where(isNotNull(emails.dueAt))
    .groupBy(emails.queueClass, emails.recipientDomain, emails.projectId)
    .all()
  for (const { dueAt, ...lane } of rows) if (dueAt !== null) lanes.note(lane, dueAt)
}

async function renewLeases({ core, leaseId }: QueueState): Promise<void> {
  await core.store.write(async (tx) => {
    await tx
      .update(emails)
      .set({ leaseUntil: core.now() + LEASE_MS })
      .where(and(isNotNull(emails.leaseUntil), eq(emails.leaseId, leaseId)))
  })
}

async function sweepQueue(state: QueueState): Promise<void> {
  await recoverLost(state, state.core.now())
  await giveUpOverdue(state.core)
  await reloadLanes(state)
  state.wake()
}

/**
 * What a process that is gone had in hand is tried again, when its next attempt is due. At the
 * start that is all there is under a lease, since only one server runs at a time (`serve-lock.ts`).
 */
async function recoverLost({ core, leaseId }: QueueState, leasedUntil: number): Promise<void> {
  const now = core.now()
  const recovered = await core.store.write(async (tx) =>
    tx
      .update(emails)
      .set({
        state: 'deferred',
        status: 'PENDING',
        dueAt: sql`${emails.retryAt}`,
        retryAt: null,
        leaseId: null,
        leaseUntil: null,
        updatedAt: now,
      })
      .where(
        and(
          isNotNull(emails.leaseUntil),
          lte(emails.leaseUntil, leasedUntil),
          ne(emails.leaseId, leaseId),
          eq(emails.state, 'sending'),
        ),
      )
      .returning({ id: emails.id }),
  )
  if (recovered.length > 0) {
    core.log.warn({ emails: recovered.length }, 'returned to the queue: their sender is gone')
  }
}
