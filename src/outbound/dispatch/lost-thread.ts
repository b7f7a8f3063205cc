/**
 * Decides what happens to the deliveries of a delivery thread that ended. Messages that a server
 * accepted are delivered: the thread ended before it could send their results.
 */
import type { Delivery } from '../delivery.ts'
import { outcomeOfLostThread } from '../outcomes.ts'
import type { TaskResult } from '../protocol.ts'
import type { ThreadEnd } from '../threads.ts'

type LostDeliveries = {
  accepted: Delivery[]
  /** Their composed messages are lost with the thread, and must be composed again. */
  composed: Delivery[]
  /** They have lost their thread too often. */
  excluded: Delivery[]
  /** Another thread may take them. */
  waiting: Delivery[]
}

const MAX_LOST_THREADS = 3

/** Sorts the deliveries of the thread, and counts the lost thread for each. */
export function sortLost(
  deliveries: readonly Delivery[],
  { composing, accepted }: Pick<ThreadEnd, 'composing' | 'accepted'>,
): LostDeliveries {
  const lost: LostDeliveries = { accepted: [], composed: [], excluded: [], waiting: [] }
  for (const delivery of deliveries) {
    delivery.lostThreads++
    const isExcluded = delivery.lostThreads >= MAX_LOST_THREADS && delivery.task !== composing
    if (accepted.has(delivery.task)) lost.accepted.push(delivery)
    else if (delivery.composed !== undefined) lost.composed.push(delivery)
    else if (isExcluded) lost.excluded.push(delivery)
    else lost.waiting.push(delivery)
  }
  return lost
}

export function resultOfAccepted({ task, pool }: Delivery, startedAt: number): TaskResult {
  const outcome = outcomeOfLostThread(pool.mode)
  const unknown = { subject: null, faults: [], brokenTls: null }
  return { task, kind: 'attempted', outcome, startedAt, ...unknown }
}
