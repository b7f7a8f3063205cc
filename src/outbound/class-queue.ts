/** A waiting line of three classes: transactional before workflow before campaign. */
export type QueueClass = 1 | 5 | 10

export type ClassQueue<T> = {
  push(item: T): void
  /** The oldest of the most urgent class. */
  peek(): T | undefined
  shift(): T | undefined
  /** Empties the line. */
  takeAll(): T[]
  some(test: (item: T) => boolean): boolean
  size(): number
}

export function createClassQueue<T>(classOf: (item: T) => QueueClass): ClassQueue<T> {
  const lines: Record<QueueClass, T[]> = { 1: [], 5: [], 10: [] }
  const inOrder = [lines[1], lines[5], lines[10]]
  let size = 0
  const first = () => inOrder.find((line) => line.length > 0)
  return {
    push(item) {
      lines[classOf(item)].push(item)
      size++
    },
    peek: () => first()?.[0],
    shift() {
      const item = first()?.shift()
      if (item !== undefined) size--
      return item
    },
    takeAll() {
      size = 0
      return inOrder.flatMap((line) => line.splice(0))
    },
    some: (test) => inOrder.some((line) => line.some(test)),
    size: () => size,
  }
}
