/**
 * A fair queue: entries wait in the line of their key, first in, first out, and the keys take turns, so that
 * a long line delays mostly itself. A key is mostly a project. A new key has its turn after the keys that
 * wait.
 *
 * Each turn counts the same, however long its work takes. `turns.ts` has turns that count the time.
 */
type FairQueue<Entry> = {
  /** Adds an entry at the end of the key's line. */
  add(key: string, entry: Entry): void
  /**
   * Removes and returns the next entry, and ends the turn of its key. With `mayTake`: the first entry that
   * may be taken; keys and entries that are passed over keep their turns.
   */
  take(mayTake?: (entry: Entry) => boolean): Entry | undefined
  /** The length of the key's line. */
  count(key: string): number
  /** The length of all lines. */
  countAll(): number
  isEmpty(): boolean
  /** Removes and returns all entries for which `isOver` is true, line by line. The others keep their turns. */
  takeOut(isOver: (entry: Entry) => boolean): Entry[]
}

export function createFairQueue<Entry>(): FairQueue<Entry> {
  /** The lines in the order of their turns; no line is empty. */
  const lines = new Map<string, Entry[]>()
  let size = 0

  /** Call this when the line of a key has changed; `set` leaves a known key at its place. */
  function put(key: string, line: Entry[]): void {
    if (line.length > 0) lines.set(key, line)
    else lines.delete(key)
  }

  return {
    add(key, entry) {
      size += 1
      const line = lines.get(key)
      if (line === undefined) lines.set(key, [entry])
      else line.push(entry)
    },
    take(mayTake) {
      for (const [key, line] of lines) {
        const at = mayTake === undefined ? 0 : line.findIndex((entry) => mayTake(entry))
        if (at === -1) continue
        const entry = at === 0 ? line.shift() : line.splice(at, 1)[0]
        size -= 1
        lines.delete(key)
        put(key, line)
        return entry
      }
      return undefined
    },
    count: (key) => lines.get(key)?.length ?? 0,
    countAll: () => size,
    isEmpty: () => lines.size === 0,
    takeOut(isOver) {
      const taken: Entry[] = []
      for (const [key, line] of [...lines]) {
        const over = line.filter(isOver)
        if (over.length === 0) continue
        taken.push(...over)
        put(
          key,
          line.filter((entry) => !isOver(entry)),
        )
      }
      size -= taken.length
      return taken
    },
  }
}
