/**
 * A queue of several lines that are served in turn, so that a long line delays mostly itself. Each
 * line is first in, first out.
 */
type RoundRobin<Waiting> = {
  /** Adds an entry at the end of line `key`. */
  add(key: string, waiting: Waiting): void
  /** Removes and returns the first entry of the line whose turn it is. */
  take(): Waiting | undefined
  /** The length of a line. */
  count(key: string): number
  /** The length of all lines. */
  countAll(): number
  isEmpty(): boolean
  /** Removes and returns all entries for which `isOver` is true, line by line. */
  takeOut(isOver: (waiting: Waiting) => boolean): Waiting[]
}

export function createRoundRobin<Waiting>(): RoundRobin<Waiting> {
  /** In the order of their turns; no line is empty. */
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
    countAll: () => lines.values().reduce((sum, line) => sum + line.length, 0),
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
