/**
 * Lines of those who wait for one thing, which take turns: a long line delays mostly itself. Within
 * a line the first is the first.
 */
export type Lines<Waiting> = {
  /** At the end of the line `key`. */
  add(key: string, waiting: Waiting): void
  /** The first of the line whose turn it is. */
  take(): Waiting | undefined
  /** How many wait in that line. */
  count(key: string): number
  isEmpty(): boolean
  /** Takes out all whom `isOver` holds for, line by line. */
  takeOut(isOver: (waiting: Waiting) => boolean): Waiting[]
}

export function createLines<Waiting>(): Lines<Waiting> {
  /** In the order of their turns; none is empty. */
  const lines = new Map<string, Waiting[]>()

  function put(key: string, line: Waiting[]): void {
    if (line.length > 0) lines.set(key, line)
    else lines.delete(key)
  }

  return {
    add(key, waiting) {
      const line = lines.get(key)
      if (line === undefined) lines.set(key, [waiting])
      else line.push(waiting)
    },
    take() {
      const [turn] = lines
      if (turn === undefined) return undefined
      const [key, line] = turn
      const first = line.shift()
      lines.delete(key)
      put(key, line)
      return first
    },
    count: (key) => lines.get(key)?.length ?? 0,
    isEmpty: () => lines.size === 0,
    takeOut(isOver) {
      const all = [...lines]
      for (const [key, line] of all) {
        const left = line.filter((waiting) => !isOver(waiting))
        put(key, left)
      }
      return all.flatMap(([, line]) => line.filter(isOver))
    },
  }
}
