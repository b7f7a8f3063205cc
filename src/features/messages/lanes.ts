/**
 * Which lanes of the queue have mail, and when the earliest of each is due: a memory of the index
 * `emails_ready`, so that finding work costs nothing. It may be behind (a lane that is empty by
 * now is found out when visited) but never misses mail: whoever makes mail due says so.
 * Transactional lanes come first, lanes of one class take turns.
 */
import type { QueueClass } from '../../store/schema.ts'
import type { QueueLane } from './bell.ts'

export type DueLane = QueueLane & { dueAt: number }

export type Lanes = {
  /** Mail is due in that lane at `dueAt`, perhaps beside what was known. */
  note(lane: QueueLane, dueAt: number): void
  /** What was found when the lane was looked at: its earliest, or null when it is empty. */
  settle(lane: QueueLane, dueAt: number | null): void
  /** Due lanes, the most urgent class first; each goes to the end of its class as it is taken. */
  takeDue(now: number, maxVisits: number): Generator<DueLane>
  /** When something is due next; undefined when nothing waits. */
  nextDueAt(): number | undefined
  clear(): void
}

const CLASSES: readonly QueueClass[] = [1, 5, 10]

export function createLanes(): Lanes {
  const byClass = new Map<QueueClass, Map<string, DueLane>>(
    CLASSES.map((queueClass) => [queueClass, new Map()]),
  )
  const lanesOf = (queueClass: QueueClass): Map<string, DueLane> => {
    const lanes = byClass.get(queueClass)
    if (lanes === undefined) throw new TypeError(`no such queue class: ${queueClass}`)
    return lanes
  }

  function note(lane: QueueLane, dueAt: number): void {
    const lanes = lanesOf(lane.queueClass)
    const known = lanes.get(nameOf(lane))
    if (known === undefined) lanes.set(nameOf(lane), { ...lane, dueAt })
    else if (dueAt < known.dueAt) known.dueAt = dueAt
  }

  function settle(lane: QueueLane, dueAt: number | null): void {
    const lanes = lanesOf(lane.queueClass)
    if (dueAt === null) lanes.delete(nameOf(lane))
    else lanes.set(nameOf(lane), { ...lane, dueAt })
  }

  function* takeDue(now: number, maxVisits: number): Generator<DueLane> {
    for (const queueClass of CLASSES) yield* takeTurns(lanesOf(queueClass), now, maxVisits)
  }

  function nextDueAt(): number | undefined {
    let next: number | undefined
    for (const lanes of byClass.values()) {
      for (const { dueAt } of lanes.values()) {
        if (next === undefined || dueAt < next) next = dueAt
      }
    }
    return next
  }

  const clear = () => {
    for (const lanes of byClass.values()) lanes.clear()
  }
  return { note, settle, takeDue, nextDueAt, clear }
}

function* takeTurns(
  lanes: Map<string, DueLane>,
  now: number,
  maxVisits: number,
): Generator<DueLane> {
  let visits = Math.min(lanes.size, maxVisits)
  for (const [name, lane] of lanes) {
    if (visits-- === 0) return
    lanes.delete(name)
    lanes.set(name, lane)
    if (lane.dueAt <= now) yield lane
  }
}

function nameOf({ domain, projectId }: QueueLane): string {
  return `${domain} ${projectId}`
}
