/**
 * A queue of three classes: transactional before workflow before campaign. Within a class projects
 * take turns, so that no project waits for the whole backlog of another.
 *
 * Every site has such a queue here and in each thread, so a queue must cost little: three fair
 * queues (`turns/fair-queue.ts`) would take twice the memory, and twice the time to create.
 */
import { QUEUE_CLASSES, type QueueClass } from '../base/queue-class.ts'

type Queued = { queueClass: QueueClass; projectId: string }

export type ClassQueue<T> = {
  push(item: T): void
  /** Returns the oldest item of the next project in the most urgent class. */
  peek(): T | undefined
  shift(): T | undefined
  /** Empties the queue. */
  takeAll(): T[]
  /** Takes the items that match; the others keep their order. */
  take(test: (item: T) => boolean): T[]
  some(test: (item: T) => boolean): boolean
  find(test: (item: T) => boolean): T | undefined
  size(): number
}

/** The items of a class by project, the next project first: a Map keeps insertion order. */
type Lines<T> = Map<string, T[]>

export function createClassQueue<T>(read: (item: T) => Queued): ClassQueue<T> {
  const classes: Record<QueueClass, Lines<T>> = { 1: new Map(), 5: new Map(), 10: new Map() }
  const inOrder = QUEUE_CLASSES.map((each) => classes[each])
  let size = 0
  const first = () => inOrder.find((lines) => lines.size > 0)
  return {
    push(item) {
      const { queueClass, projectId } = read(item)
      const line = classes[queueClass].get(projectId)
      if (line === undefined) classes[queueClass].set(projectId, [item])
      else line.push(item)
      size++
    },
    peek: () => first()?.values().next().value?.[0],
    shift() {
      const lines = first()
      if (lines === undefined) return undefined
      size--
      return shiftNext(lines)
    },
    takeAll() {
      const all = inOrder.flatMap((lines) => [...lines.values()].flat())
      for (const lines of inOrder) lines.clear()
      size = 0
      return all
    },
    take(test) {
      const taken = inOrder.flatMap((lines) => takeMatching(lines, test))
      size -= taken.length
      return taken
    },
    some: (test) => inOrder.some((lines) => lines.values().some((line) => line.some(test))),
    find(test) {
      for (const lines of inOrder) {
        for (const line of lines.values()) {
          const found = line.find(test)
          if (found !== undefined) return found
        }
      }
      return undefined
    },
    size: () => size,
  }
}

function takeMatching<T>(lines: Lines<T>, test: (item: T) => boolean): T[] {
  const taken: T[] = []
  for (const [projectId, line] of lines) {
    const matching = line.filter(test)
    if (matching.length === 0) continue
    taken.push(...matching)
    const rest = line.filter((item) => !test(item))
    if (rest.length > 0) lines.set(projectId, rest)
    else lines.delete(projectId)
  }
  return taken
}

/** Takes one item of the next project and moves that project behind the others. */
function shiftNext<T>(lines: Lines<T>): T | undefined {
  for (const [projectId, line] of lines) {
    const item = line.shift()
    if (line.length === 0) lines.delete(projectId)
    else if (lines.size > 1) {
      lines.delete(projectId)
      lines.set(projectId, line)
    }
    return item
  }
  return undefined
}
