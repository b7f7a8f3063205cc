/**
 * The lanes that have mail, and when the earliest email of each is due: a copy in memory of the
 * index `emails_ready`. A lane may be empty by the time it is visited, but no lane with mail is
 * missing: code that makes an email due notifies the queue.
 *
 * Due lanes are kept apart from waiting ones, so a hundred thousand deferred domains cost nothing.
 * Transactional lanes come first. Within a class projects take turns, and within a project its
 * lanes do: a lane that was visited moves to the end. Lanes that are still due after a claim have a
 * backlog. They are visited more often than the others: a campaign has tens of thousands of lanes with an
 * email or two, which would keep the lanes of the large providers waiting, and which collect more emails
 * for a connection while they wait.
 */
import { QUEUE_CLASSES, type QueueClass } from '../../../queue-class.ts'
import type { QueueLane } from './notifier.ts'

export type Lanes = {
  /** Records that an email of the lane is due at `dueAt`; an earlier known time stays. */
  addDueAt(lane: QueueLane, dueAt: number): void
  /** Sets when the lane's earliest email is due; null if the lane is empty. */
  setDueAt(lane: QueueLane, dueAt: number | null): void
  /** A lower bound of the time when the lane's earliest email is due; undefined for an unknown lane. */
  dueAt(lane: QueueLane): number | undefined
  /** At most `maxVisits` due lanes of each class, the most urgent class first. */
  listDue(now: number, maxVisits: number): DueLane[]
  /** Moves these lanes, and their projects, behind the others; those that are still due have a backlog. */
  markServed(lanes: readonly QueueLane[]): void
  /** When a waiting lane is due next; undefined when none waits. */
  nextDueAt(): number | undefined
}

export type DueLane = { lane: QueueLane; hasBacklog: boolean }

type KnownLane = { lane: QueueLane; dueAt: number }

/** The due lanes of a project; a Map keeps the order in which they are next. `visits`: so far. */
type ProjectLanes = {
  backlog: Map<string, KnownLane>
  others: Map<string, KnownLane>
  visits: number
}

/** The due lanes of a class by project: a Map keeps the order in which they are next. */
type DueLanes = Map<string, ProjectLanes>

/** One visit in so many is to a lane without a backlog, while there are lanes with one. */
const VISITS_PER_OTHER = 6
/** The maximum of visits at once to lanes with a backlog: their sites may all be full. */
const MAX_BACKLOG_VISITS = 50

export function createLanes(): Lanes {
  const known = new Map<string, KnownLane>()
  const due = new Map<QueueClass, DueLanes>(QUEUE_CLASSES.map((each) => [each, new Map()]))
  const waiting = createTimetable<KnownLane>()

  const dueOf = (queueClass: QueueClass): DueLanes => {
    const lanes = due.get(queueClass)
    if (lanes === undefined) throw new TypeError(`no such queue class: ${queueClass}`)
    return lanes
  }

  const dueOfProject = ({ queueClass, projectId }: QueueLane) => dueOf(queueClass).get(projectId)

  function makeDue(entry: KnownLane): void {
    const { queueClass, projectId } = entry.lane
    const lanes = dueOf(queueClass).get(projectId) ?? createProjectLanes()
    const name = nameOf(entry.lane)
    const group = lanes.backlog.has(name) ? lanes.backlog : lanes.others
    group.set(name, entry)
    dueOf(queueClass).set(projectId, lanes)
  }

  function dropDue(lane: QueueLane): void {
    const lanes = dueOfProject(lane)
    if (lanes === undefined) return
    const name = nameOf(lane)
    if (!lanes.backlog.delete(name)) lanes.others.delete(name)
    if (lanes.backlog.size + lanes.others.size === 0) dueOf(lane.queueClass).delete(lane.projectId)
  }

  function isDue(lane: QueueLane): boolean {
    const lanes = dueOfProject(lane)
    const name = nameOf(lane)
    return lanes !== undefined && (lanes.backlog.has(name) || lanes.others.has(name))
  }

  /**
   * Entries are replaced and never changed, so an entry of the timetable that is not in `known` is
   * stale.
   */
  function put(lane: QueueLane, dueAt: number): void {
    const name = nameOf(lane)
    const entry = { lane, dueAt }
    known.set(name, entry)
    if (isDue(lane)) makeDue(entry)
    else waiting.add(dueAt, entry)
  }

  function addDueAt(lane: QueueLane, dueAt: number): void {
    const entry = known.get(nameOf(lane))
    if (entry === undefined || dueAt < entry.dueAt) put(lane, dueAt)
  }

  function setDueAt(lane: QueueLane, dueAt: number | null): void {
    known.delete(nameOf(lane))
    dropDue(lane)
    if (dueAt !== null) put(lane, dueAt)
  }

  const isCurrent = (entry: KnownLane) => known.get(nameOf(entry.lane)) === entry

  function listDue(now: number, maxVisits: number): DueLane[] {
    for (const entry of waiting.takeUntil(now)) {
      if (isCurrent(entry)) makeDue(entry)
    }
    return QUEUE_CLASSES.flatMap((queueClass) => visit(dueOf(queueClass), maxVisits))
  }

  function markServed(lanes: readonly QueueLane[]): void {
    for (const lane of lanes) {
      const own = dueOfProject(lane)
      const name = nameOf(lane)
      const entry = own?.backlog.get(name) ?? own?.others.get(name)
      if (own === undefined || entry === undefined) continue
      own.others.delete(name)
      own.backlog.delete(name)
      own.backlog.set(name, entry)
      moveToEnd(dueOf(lane.queueClass), lane.projectId)
    }
  }

  return {
    addDueAt,
    setDueAt,
    dueAt: (lane) => known.get(nameOf(lane))?.dueAt,
    listDue,
    markServed,
    nextDueAt: () => waiting.next(isCurrent),
  }
}

/** Takes one lane of each project, then the second of each, and so on. They move to the end. */
function visit(projects: DueLanes, maxVisits: number): DueLane[] {
  const iterators = [...projects.values()].map(inTurn)
  const visited: DueLane[] = []
  while (iterators.length > 0 && visited.length < maxVisits) {
    for (const iterator of iterators.splice(0)) {
      if (visited.length === maxVisits) break
      const { value, done } = iterator.next()
      if (done) continue
      visited.push(value)
      iterators.push(iterator)
    }
  }
  for (const { lane } of visited) moveLaneToEnd(projects, lane)
  return visited
}

function* inTurn(lanes: ProjectLanes): Generator<DueLane, void> {
  const backlog = lanes.backlog.values().take(MAX_BACKLOG_VISITS)
  const others = lanes.others.values()
  for (;;) {
    const isOthersTurn = lanes.visits++ % VISITS_PER_OTHER === 0
    const [first, second] = isOthersTurn ? [others, backlog] : [backlog, others]
    const lane = first.next().value?.lane
    if (lane !== undefined) yield { lane, hasBacklog: first === backlog }
    else {
      const instead = second.next().value?.lane
      if (instead === undefined) return
      yield { lane: instead, hasBacklog: second === backlog }
    }
  }
}

function createProjectLanes(): ProjectLanes {
  return { backlog: new Map(), others: new Map(), visits: 0 }
}

function moveLaneToEnd(projects: DueLanes, lane: QueueLane): void {
  const own = projects.get(lane.projectId)
  moveToEnd(own?.backlog, nameOf(lane))
  moveToEnd(own?.others, nameOf(lane))
  moveToEnd(projects, lane.projectId)
}

function moveToEnd<T>(map: Map<string, T> | undefined, name: string): void {
  const value = map?.get(name)
  if (map === undefined || value === undefined) return
  map.delete(name)
  map.set(name, value)
}

function nameOf({ queueClass, domain, projectId }: QueueLane): string {
  return `${queueClass} ${domain} ${projectId}`
}

/** Items in the order of their due times, then of insertion: a binary heap. */
type Timetable<T> = {
  add(at: number, item: T): void
  /** Removes and yields all items due by `now`, earliest first. */
  takeUntil(now: number): Generator<T>
  /** The due time of the earliest wanted item; removes the unwanted ones before it. */
  next(isWanted: (item: T) => boolean): number | undefined
}

type TimetableEntry<T> = { at: number; sequence: number; item: T }

export function createTimetable<T>(): Timetable<T> {
  const heap: TimetableEntry<T>[] = []
  let sequence = 0

  function takeFirst(): T | undefined {
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined) return undefined
    if (heap.length > 0) {
      heap[0] = last
      sink(heap)
    }
    return first.item
  }

  return {
    add: (at, item) => {
      heap.push({ at, sequence: sequence++, item })
      rise(heap)
    },
    *takeUntil(now) {
      while (heap[0] !== undefined && heap[0].at <= now) yield takeFirst() as T
    },
    next: (isWanted) => {
      while (heap[0] !== undefined && !isWanted(heap[0].item)) takeFirst()
      return heap[0]?.at
    },
  }
}

function rise<T>(heap: TimetableEntry<T>[]): void {
  let index = heap.length - 1
  while (index > 0) {
    const above = (index - 1) >> 1
    if (!isEarlier(heap, index, above)) return
    swap(heap, index, above)
    index = above
  }
}

function sink<T>(heap: TimetableEntry<T>[]): void {
  let index = 0
  for (;;) {
    const left = 2 * index + 1
    const child = isEarlier(heap, left + 1, left) ? left + 1 : left
    if (!isEarlier(heap, child, index)) return
    swap(heap, index, child)
    index = child
  }
}

function isEarlier<T>(heap: TimetableEntry<T>[], one: number, other: number): boolean {
  const [a, b] = [heap[one], heap[other]]
  if (a === undefined || b === undefined) return false
  return a.at === b.at ? a.sequence < b.sequence : a.at < b.at
}

function swap<T>(heap: TimetableEntry<T>[], one: number, other: number): void {
  const [a, b] = [heap[one], heap[other]]
  if (a === undefined || b === undefined) return
  heap[one] = b
  heap[other] = a
}
