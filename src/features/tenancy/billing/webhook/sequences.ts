/** Runs work of the same project one after another. */
export type Sequences = { take<T>(key: string, act: () => Promise<T>): Promise<T> }

export function createSequences(): Sequences {
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
