/**
 * The lanes that have mail, and when the earliest email of each is due: a copy in memory of the
 * index `emails_ready`. A lane may be empty by the time it is visited, but no lane with mail is
 * missing: code that makes an email due notifies the queue.
 *
 * This is no fair queue (`turns/fair-queue.ts`), which takes an entry at each turn: here a turn
 * looks at many lanes, leaves those whose site is full, and visits a lane more or less often by
 * what a claim found in it.
 *
 * Due lanes are kept apart from waiting ones, so a hundred thousand deferred domains cost nothing.
 * Transactional lanes come first. Within a class projects take turns, and within a project its
 * lanes do: a lane that was visited moves to the end. Lanes that are still due after a claim have a
 * backlog and are visited more often than the others. A campaign has tens of thousands of lanes
 * with an email or two, which would keep the lanes of the large providers waiting. While the small
 * lanes wait, they collect more emails for a connection.
 */
import { QUEUE_CLASSES, type QueueClass } from '../../../../base/queue-class.ts'
import type { QueueLane } from './notifier.ts'

export type Lanes = {
  /** Records that an email of the lane is due at `dueAt`; an earlier known time stays. */
  addDueAt(lane: QueueLane, dueAt: number): void
  /** Sets when the lane's earliest email is due; null if the lane is empty. */
  setDueAt(lane: QueueLane, dueAt: number | null): void
  /** A lower bound of the time when the lane's earliest email is due; undefined for an unknown lane. */
  dueAt(lane: QueueLane): number | undefined
  /** The next due lanes of each class, at most `max`, the most urgent class first. */
  listDue(now: number, max: number): DueLane[]
  /** Moves these lanes, and their projects, behind the others of their class. */
  markVisited(lanes: readonly DueLane[]): void
  /** Emails were claimed from these lanes: those that are still due have a backlog. */
  markServed(lanes: readonly QueueLane[]): void
  /** When a waiting lane is due next; undefined when none waits. */
  nextDueAt(): number | undefined
  /** The lanes of a project, of all classes, in no order. */
  ofProject(projectId: string): Iterable<QueueLane>
}

export type DueLane = { lane: QueueLane; hasBacklog: boolean }

type KnownLane = { lane: QueueLane; dueAt: number }

/**
 * The lanes of a project and class, by domain. Each Map has its due lanes in the order in which
 * they are next.
 */
type ProjectLanes = {
  projectId: string
  known: Map<string, KnownLane>
  backlog: Map<string, KnownLane>
  /** Due lanes without a backlog. */
  others: Map<string, KnownLane>
  /** The number of visits to lanes of the project so far. */
  visits: number
}

/** The lanes of a class by project, in the order in which the projects are next. */
type ClassLanes = Map<string, ProjectLanes>

/**
 * While lanes have a backlog, one visit in this many goes to a lane without a backlog, because the
 * sites of all lanes with a backlog may be full.
 */
const VISITS_PER_OTHER = 4

type Timetable<T> = {
  add(at: number, item: T): void
  /** Removes and yields all items due by `now`, earliest first. */
  takeUntil(now: number): Generator<T>
  /** The due time of the earliest wanted item; removes the unwanted ones before it. */
  next(isWanted: (item: T) => boolean): number | undefined
}

type TimetableEntry<T> = { at: number; sequence: number; item: T }

export function createLanes(): Lanes {
  const known = createClasses()
  /** By class, the projects that have due lanes, with these lanes. */
  const due = createClasses()
  const waiting = createTimetable<KnownLane>()

  const ofProject = ({ queueClass, projectId }: QueueLane) =>
    ofClass(known, queueClass).get(projectId)
  const find = (lane: QueueLane) => ofProject(lane)?.known.get(lane.domain)
  /**
   * Whether an entry of the timetable is current. Entries are replaced and never changed, so an
   * entry that the lane no longer has is stale.
   */
  const isCurrent = (entry: KnownLane) => find(entry.lane) === entry

  function makeDue(entry: KnownLane): void {
    const { lane } = entry
    const own = ofProject(lane)
    if (own === undefined) return
    own.others.set(lane.domain, entry)
    ofClass(due, lane.queueClass).set(own.projectId, own)
  }

  function put(lane: QueueLane, dueAt: number): void {
    const { queueClass, domain } = lane
    const own = ofProject(lane) ?? createProjectLanes(lane.projectId)
    // One string of the project's id serves all its lanes: copies would take memory.
    const entry = { lane: { queueClass, domain, projectId: own.projectId }, dueAt }
    ofClass(known, queueClass).set(own.projectId, own)
    own.known.set(domain, entry)
    if (own.backlog.has(domain)) own.backlog.set(domain, entry)
    else if (own.others.has(domain)) own.others.set(domain, entry)
    else waiting.add(dueAt, entry)
  }

  function drop(lane: QueueLane): void {
    const own = ofProject(lane)
    if (own === undefined) return
    const { queueClass, domain, projectId } = lane
    for (const lanes of [own.known, own.backlog, own.others]) lanes.delete(domain)
    if (own.backlog.size + own.others.size === 0) ofClass(due, queueClass).delete(projectId)
    if (own.known.size === 0) ofClass(known, queueClass).delete(projectId)
  }

  return {
    addDueAt(lane, dueAt) {
      const entry = find(lane)
      if (entry === undefined || dueAt < entry.dueAt) put(lane, dueAt)
    },
    setDueAt(lane, dueAt) {
      drop(lane)
      if (dueAt !== null) put(lane, dueAt)
    },
    dueAt: (lane) => find(lane)?.dueAt,
    listDue(now, max) {
      for (const entry of waiting.takeUntil(now)) if (isCurrent(entry)) makeDue(entry)
      return QUEUE_CLASSES.flatMap((queueClass) => listNext(ofClass(due, queueClass), max))
    },
    markVisited(lanes) {
      for (const { lane } of lanes) {
        const own = ofProject(lane)
        if (own === undefined) continue
        own.visits += 1
        moveToEnd(own.backlog, lane.domain)
        moveToEnd(own.others, lane.domain)
        moveToEnd(ofClass(due, lane.queueClass), lane.projectId)
      }
    },
    markServed(lanes) {
      for (const lane of lanes) {
        const own = ofProject(lane)
        const entry = own?.others.get(lane.domain)
        if (own === undefined || entry === undefined) continue
        own.others.delete(lane.domain)
        own.backlog.set(lane.domain, entry)
      }
    },
    nextDueAt: () => waiting.next(isCurrent),
    *ofProject(projectId) {
      for (const projects of known.values()) {
        for (const { lane } of projects.get(projectId)?.known.values() ?? []) yield lane
      }
    },
  }
}

/** Returns a binary heap of items in the order of their due times, then of insertion. */
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

function createClasses(): ReadonlyMap<QueueClass, ClassLanes> {
  return new Map(QUEUE_CLASSES.map((each) => [each, new Map()]))
}

function ofClass(classes: ReadonlyMap<QueueClass, ClassLanes>, queueClass: QueueClass): ClassLanes {
  const lanes = classes.get(queueClass)
  if (lanes === undefined) throw new TypeError(`no such queue class: ${queueClass}`)
  return lanes
}

function createProjectLanes(projectId: string): ProjectLanes {
  return { projectId, known: new Map(), backlog: new Map(), others: new Map(), visits: 0 }
}

/** Lists one lane of each project, then the second lane of each, and so on. */
function listNext(projects: ClassLanes, max: number): DueLane[] {
  const iterators = [...projects.values().take(max)].map(inTurn)
  const listed: DueLane[] = []
  while (iterators.length > 0 && listed.length < max) {
    for (const iterator of iterators.splice(0)) {
      if (listed.length === max) break
      const { value, done } = iterator.next()
      if (done) continue
      listed.push(value)
      iterators.push(iterator)
    }
  }
  return listed
}

function* inTurn(lanes: ProjectLanes): Generator<DueLane, void> {
  const backlog = lanes.backlog.values()
  const others = lanes.others.values()
  for (let visits = lanes.visits; ; visits += 1) {
    const isOthersTurn = visits % VISITS_PER_OTHER === 0
    const [first, second] = isOthersTurn ? [others, backlog] : [backlog, others]
    const entry = first.next().value
    const lane = entry?.lane ?? second.next().value?.lane
    if (lane === undefined) return
    yield { lane, hasBacklog: (entry === undefined ? second : first) === backlog }
  }
}

function moveToEnd<T>(map: Map<string, T>, name: string): void {
  const value = map.get(name)
  if (value === undefined) return
  map.delete(name)
  map.set(name, value)
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
