/**
 * Waits until the figures of reputation have counted the events up to a reset, so that a reset cannot
 * hide bounces and complaints that were not counted yet.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS } from '../../clock.ts'
import { sql } from '../../store/drizzle.ts'
import { statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'

/** A follower that fails must not keep a project closed; its failures are in the log. */
const MAX_WAIT_MS = MINUTE_MS
const POLL_MS = 100

/** None if nothing follows events for the reputation of projects. */
const findPlace = statement<{ seq: number; newest: number | null }>(
  () => sql`select seq, (select max(seq) from events) as newest
    from event_followers where name = 'reputation'`,
)

export async function untilCounted(
  { store, now, log }: Pick<Base, 'store' | 'now' | 'log'>,
  { since, signal }: { since: number; signal: AbortSignal },
): Promise<void> {
  const aim = (await store.read.find(findPlace))?.newest ?? 0
  for (;;) {
    const place = await store.read.find(findPlace)
    if (place === undefined || place.seq >= aim) return
    if (now() - since > MAX_WAIT_MS) break
    await sleep(POLL_MS, undefined, { signal })
  }
  log.warn({ events: aim }, 'a reset did not wait until the reputation had counted all events')
}
