/**
 * Emails that are due while nothing is sent to their site: they are marked as deferred, with the reason.
 */
import type { Base } from '../../../ground/base.ts'
import type { DueLane, Lanes } from './lanes.ts'
import type { QueueLane } from './notifier.ts'
import { deferWaiting } from './put-back.ts'

/** The maximum per transaction: of lanes, and of emails in them. */
const PAUSED_LANES = 100
const PAUSED_BATCH = 500

type PausedLane = { lane: QueueLane; until: number; reason: string }

export function listPaused(
  { outbound }: Pick<Base, 'outbound'>,
  due: readonly DueLane[],
): PausedLane[] {
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
export async function deferPaused(
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
