/**
 * Waits until followers have read the events up to a reset or deletion: those of reputation, so that a
 * reset cannot hide bounces and complaints that were not counted yet, and those of billing, so that the
 * last mail of a subscriber is charged.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../../clock.ts'
import { listOf } from '../../store/dialect.ts'
import { sql } from '../../store/drizzle.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'

/**
 * A follower that stands still for so long fails, and its failures are in the log. It must not keep a
 * project closed.
 */
const STANDSTILL_MS = 5 * SECOND_MS
const POLL_MS = 50

/** `seq`: of the follower that is furthest behind; null if nothing follows events under these names. */
const findPlace = statement<{ seq: number | null; newest: number | null }>(
  () => sql`select min(seq) as seq, (select max(seq) from events) as newest
    from event_followers where name in ${listOf(parameter('names'))}`,
)

type Waiting = { signal: AbortSignal; followers: readonly string[]; standstillMs?: number }

export async function untilCounted(
  { store, log }: Pick<Base, 'store' | 'log'>,
  { signal, followers, standstillMs = STANDSTILL_MS }: Waiting,
): Promise<void> {
  const names = JSON.stringify(followers)
  const aim = (await store.read.find(findPlace, { names }))?.newest ?? 0
  let last = -1
  let movedAt = performance.now()
  for (;;) {
    const seq = (await store.read.find(findPlace, { names }))?.seq ?? null
    if (seq === null || seq >= aim) return
    if (seq > last) movedAt = performance.now()
    else if (performance.now() - movedAt > standstillMs) break
    last = seq
    await sleep(POLL_MS, undefined, { signal })
  }
  log.warn({ last, aim, followers }, 'an erasure did not wait until all events were counted')
}
