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
