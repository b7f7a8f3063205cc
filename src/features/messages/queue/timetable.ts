/** Things in the order of their due times, then of insertion: a binary heap. */

export type Timetable<T> = {
  add(at: number, thing: T): void
  /** Removes and yields all things due by `now`, earliest first. */
  takeUntil(now: number): Generator<T>
  /** The due time of the earliest wanted thing; removes the unwanted ones before it. */
  next(isWanted: (thing: T) => boolean): number | undefined
}

type Slot<T> = { at: number; turn: number; thing: T }

export function createTimetable<T>(): Timetable<T> {
  const heap: Slot<T>[] = []
  let turn = 0

  function takeFirst(): T | undefined {
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined) return undefined
    if (heap.length > 0) {
      heap[0] = last
      sink(heap)
    }
    return first.thing
  }

  return {
    add: (at, thing) => {
      heap.push({ at, turn: turn++, thing })
      rise(heap)
    },
    *takeUntil(now) {
      while (heap[0] !== undefined && heap[0].at <= now) yield takeFirst() as T
    },
    next: (isWanted) => {
      while (heap[0] !== undefined && !isWanted(heap[0].thing)) takeFirst()
      return heap[0]?.at
    },
  }
}

function rise<T>(heap: Slot<T>[]): void {
  let index = heap.length - 1
  while (index > 0) {
    const above = (index - 1) >> 1
    if (!isEarlier(heap, index, above)) return
    swap(heap, index, above)
    index = above
  }
}

function sink<T>(heap: Slot<T>[]): void {
  let index = 0
  for (;;) {
    const left = 2 * index + 1
    const child = isEarlier(heap, left + 1, left) ? left + 1 : left
    if (!isEarlier(heap, child, index)) return
    swap(heap, index, child)
    index = child
  }
}

function isEarlier<T>(heap: Slot<T>[], one: number, other: number): boolean {
  const [a, b] = [heap[one], heap[other]]
  if (a === undefined || b === undefined) return false
  return a.at === b.at ? a.turn < b.turn : a.at < b.at
}

function swap<T>(heap: Slot<T>[], one: number, other: number): void {
  const [a, b] = [heap[one], heap[other]]
  if (a === undefined || b === undefined) return
  heap[one] = b
  heap[other] = a
}
