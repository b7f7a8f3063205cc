/** Runs work of the same project one after another. */
export type Turns = { take<T>(key: string, act: () => Promise<T>): Promise<T> }

export function createTurns(): Turns {
  const tails = new Map<string, Promise<unknown>>()
  return {
    async take(key, act) {
      const before = tails.get(key)
      const own = (before ?? Promise.resolve()).then(act, act)
      tails.set(key, own)
      try {
        return await own
      } finally {
        if (tails.get(key) === own) tails.delete(key)
      }
    },
  }
}
