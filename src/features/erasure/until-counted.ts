/**
 * Waits until the figures of reputation have counted the events up to a reset, so that a reset cannot
 * hide bounces and complaints that were not counted yet.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../../clock.ts'
import { sql } from '../../store/drizzle.ts'
import { statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'

/**
 * A follower that stands still for so long fails, and its failures are in the log. It must not keep a
 * project closed.
 */
const STANDSTILL_MS = 5 * SECOND_MS
const POLL_MS = 50

/** None if nothing follows events for the reputation of projects. */
const findPlace = statement<{ seq: number; newest: number | null }>(
  () => sql`select seq, (select max(seq) from events) as newest
    from event_followers where name = 'reputation'`,
)

export async function untilCounted(
  { store, log }: Pick<Base, 'store' | 'log'>,
  { signal, standstillMs = STANDSTILL_MS }: { signal: AbortSignal; standstillMs?: number },
): Promise<void> {
  const aim = (await store.read.find(findPlace))?.newest ?? 0
  let last = -1
  let movedAt = performance.now()
  for (;;) {
    const place = await store.read.find(findPlace)
    if (place === undefined || place.seq >= aim) return
    if (place.seq > last) movedAt = performance.now()
    else if (performance.now() - movedAt > standstillMs) break
    last = place.seq
    await sleep(POLL_MS, undefined, { signal })
  }
  log.warn({ last, aim }, 'a reset did not wait until the reputation had counted all events')
}
