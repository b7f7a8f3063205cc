/**
 * Which lanes of the queue have mail, and when the earliest of each is due: a memory of the index
 * `emails_ready`, so that finding work costs nothing. It may be behind (a lane that is empty by
 * now is found out when visited) but never misses mail: whoever makes mail due says so.
 *
 * Due lanes stand apart from those that wait for their time, so a hundred thousand deferred
 * domains delay nobody. Transactional lanes come first; within a class a lane that was served goes
 * to the end, so projects and domains take turns.
 */
import type { QueueClass } from '../../store/schema.ts'
import type { QueueLane } from './bell.ts'
import { createTimetable } from './timetable.ts'

export type Lanes = {
  /** Mail is due in that lane at `dueAt`, perhaps beside what was known. */
  note(lane: QueueLane, dueAt: number): void
  /** What was found when the lane was looked at: its earliest, or null when it is empty. */
  settle(lane: QueueLane, dueAt: number | null): void
  /** At most `maxVisits` due lanes of each class, the most urgent class first. */
  listDue(now: number, maxVisits: number): QueueLane[]
  /** These were served: the others of their class come first next time. */
  served(lanes: readonly QueueLane[]): void
  /** When a waiting lane is due next; undefined when none waits. */
  nextDueAt(): number | undefined
}

type Entry = { lane: QueueLane; dueAt: number }

const CLASSES: readonly QueueClass[] = [1, 5, 10]

export function createLanes(): Lanes {
  const known = new Map<string, Entry>()
  const due = new Map<QueueClass, Map<string, Entry>>(CLASSES.map((each) => [each, new Map()]))
  const waiting = createTimetable<Entry>()

  const dueOf = (queueClass: QueueClass): Map<string, Entry> => {
    const lanes = due.get(queueClass)
    if (lanes === undefined) throw new TypeError(`no such queue class: ${queueClass}`)
    return lanes
  }

  /** An entry is replaced, never changed: an older one in the timetable is known to be stale. */
  function put(lane: QueueLane, dueAt: number): void {
    const name = nameOf(lane)
    const entry = { lane, dueAt }
    known.set(name, entry)
    const lanes = dueOf(lane.queueClass)
    if (lanes.has(name)) lanes.set(name, entry)
    else waiting.add(dueAt, entry)
  }

  function note(lane: QueueLane, dueAt: number): void {
    const entry = known.get(nameOf(lane))
    if (entry === undefined || dueAt < entry.dueAt) put(lane, dueAt)
  }

  function settle(lane: QueueLane, dueAt: number | null): void {
    const name = nameOf(lane)
    known.delete(name)
    dueOf(lane.queueClass).delete(name)
    if (dueAt !== null) put(lane, dueAt)
  }

  const isCurrent = (entry: Entry) => known.get(nameOf(entry.lane)) === entry

  function listDue(now: number, maxVisits: number): QueueLane[] {
    for (const entry of waiting.takeUntil(now)) {
      if (isCurrent(entry)) dueOf(entry.lane.queueClass).set(nameOf(entry.lane), entry)
    }
    return CLASSES.flatMap((queueClass) => visit(dueOf(queueClass), maxVisits))
  }

  function served(lanes: readonly QueueLane[]): void {
    for (const lane of lanes) moveToEnd(dueOf(lane.queueClass), nameOf(lane))
  }

  return { note, settle, listDue, served, nextDueAt: () => waiting.next(isCurrent) }
}

/** Of more lanes than one visit takes, those visited go to the end, so that all have their turn. */
function visit(lanes: Map<string, Entry>, maxVisits: number): QueueLane[] {
  const visited = lanes.entries().take(maxVisits).toArray()
  if (lanes.size > maxVisits) for (const [name] of visited) moveToEnd(lanes, name)
  return visited.map(([, { lane }]) => lane)
}

function moveToEnd(lanes: Map<string, Entry>, name: string): void {
  const entry = lanes.get(name)
  if (entry === undefined) return
  lanes.delete(name)
  lanes.set(name, entry)
}

function nameOf({ queueClass, domain, projectId }: QueueLane): string {
  return `${queueClass} ${domain} ${projectId}`
}
