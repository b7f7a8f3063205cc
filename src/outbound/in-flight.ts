/** What is under way: messages by site. */

export type InFlight = {
  enter(site: string): void
  leave(site: string): void
  /** Messages of a site. */
  of(site: string): number
  total(): number
}

export function createInFlight(): InFlight {
  const counts = new Map<string, number>()
  let total = 0
  return {
    enter(site) {
      total++
      counts.set(site, (counts.get(site) ?? 0) + 1)
    },
    leave(site) {
      total--
      const count = (counts.get(site) ?? 0) - 1
      if (count > 0) counts.set(site, count)
      else counts.delete(site)
    },
    of: (site) => counts.get(site) ?? 0,
    total: () => total,
  }
}
