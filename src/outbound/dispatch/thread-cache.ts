/**
 * What a thread has been given to keep (contents, keys), as the main thread remembers it: by the
 * value itself, which is sent once. Entries in use stay; of the others the longest unused go when
 * there is too much.
 */
export type ThreadCache<T> = {
  /** Counts one more use. `isNew`: to be sent along. */
  use(value: T): { id: number; isNew: boolean }
  release(id: number): void
  /** Ids to be forgotten by the thread, so that the bound is kept. */
  takeForgotten(): number[]
}

export type ThreadCacheOptions<T> = {
  maxWeight: number
  weigh(value: T): number
  /** Values with the same key are the same. */
  keyOf(value: T): string
}

type Entry = { id: number; key: string; weight: number; uses: number }

export function createThreadCache<T>({
  maxWeight,
  weigh,
  keyOf,
}: ThreadCacheOptions<T>): ThreadCache<T> {
  /** In order of last use: a Map keeps the order of insertion. */
  const byKey = new Map<string, Entry>()
  const byId = new Map<number, Entry>()
  let lastId = 0
  let weight = 0

  function use(value: T): { id: number; isNew: boolean } {
    const key = keyOf(value)
    const known = byKey.get(key)
    if (known !== undefined) {
      known.uses++
      return { id: known.id, isNew: false }
    }
    const entry = { id: ++lastId, key, weight: weigh(value), uses: 1 }
    byKey.set(key, entry)
    byId.set(entry.id, entry)
    weight += entry.weight
    return { id: entry.id, isNew: true }
  }

  function release(id: number): void {
    const entry = byId.get(id)
    if (entry === undefined) return
    entry.uses--
    if (entry.uses > 0) return
    byKey.delete(entry.key)
    byKey.set(entry.key, entry)
  }

  function takeForgotten(): number[] {
    const forgotten: number[] = []
    if (weight <= maxWeight) return forgotten
    for (const entry of byKey.values()) {
      if (weight <= maxWeight) break
      if (entry.uses > 0) continue
      byKey.delete(entry.key)
      byId.delete(entry.id)
      weight -= entry.weight
      forgotten.push(entry.id)
    }
    return forgotten
  }

  return { use, release, takeForgotten }
}
