/**
 * Waits until followers have counted events that an erasure takes away: the figures of reputation, so that
 * a reset cannot hide bounces and complaints, and billing, so that no email goes without being charged.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../../../base/clock.ts'
import { sql } from '../../../store/drizzle.ts'
import { statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { findUnbilled } from './parts.ts'

/**
 * A follower that stands still for this long is failing, and its failures are in the log. It must
 * not keep a project closed.
 */
const STANDSTILL_MS = 5 * SECOND_MS
const POLL_MS = 50

type Deps = Pick<Base, 'store' | 'log'>
type Wait = { signal: AbortSignal; standstillMs?: number }
type ReaderPlace = { seq: number }

/** The place of the follower for the reputation of projects; no row if there is none. */
const findPlace = statement<ReaderPlace & { newest: number | null }>(
  () => sql`select seq, (select max(seq) from events) as newest
    from event_followers where name = 'reputation'`,
)

const findBilling = statement<ReaderPlace>(
  () => sql`select seq from event_followers where name = 'billing'`,
)

export async function untilCounted({ store, log }: Deps, wait: Wait): Promise<void> {
  const aim = (await store.read.find(findPlace))?.newest ?? 0
  const isDone = await poll(wait, async () => {
    const place = await store.read.find(findPlace)
    return place === undefined || place.seq >= aim ? undefined : place
  })
  if (!isDone) {
    log.warn({ aim }, 'a reset did not wait until the reputation had counted all events')
  }
}

/**
 * Waits until billing has counted the project's events that were deleted before.
 * @returns false when billing stands still
 */
export async function untilBilled(
  { store, log }: Deps,
  { projectId, ...wait }: Wait & { projectId: string },
): Promise<boolean> {
  const isDone = await poll(wait, async () => {
    const left = await store.read.find(findUnbilled, { projectId })
    return left && store.read.find(findBilling)
  })
  if (!isDone) {
    log.warn({ projectId }, 'billing has not counted all events of an erased project')
  }
  return isDone
}

/** `findPlace`: where the follower is; undefined when it is far enough. */
async function poll(
  { signal, standstillMs = STANDSTILL_MS }: Wait,
  findPlace: () => Promise<ReaderPlace | undefined>,
): Promise<boolean> {
  let last = -1
  let movedAt = performance.now()
  for (;;) {
    const place = await findPlace()
    if (place === undefined) return true
    if (place.seq > last) movedAt = performance.now()
    else if (performance.now() - movedAt > standstillMs) return false
    last = place.seq
    await sleep(POLL_MS, undefined, { signal })
  }
}
