/** A waiting line of three classes: transactional before workflow before campaign. */
export type QueueClass = 1 | 5 | 10

export type ClassQueue<T> = {
  push(item: T): void
  /** The oldest of the most urgent class. */
  peek(): T | undefined
  shift(): T | undefined
  /** Empties the line. */
  takeAll(): T[]
  size(): number
}

const classes: readonly QueueClass[] = [1, 5, 10]

export function createClassQueue<T>(classOf: (item: T) => QueueClass): ClassQueue<T> {
  const lines = new Map(classes.map((queueClass) => [queueClass, [] as T[]]))
  let size = 0
  const first = () => {
    for (const line of lines.values()) if (line.length > 0) return line
    return undefined
  }
  return {
    push(item) {
      lines.get(classOf(item))?.push(item)
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
      return [...lines.values()].flatMap((line) => line.splice(0))
    },
    size: () => size,
  }
}
