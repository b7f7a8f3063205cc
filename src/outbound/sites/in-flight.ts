/**
 * What is under way: messages by site and by project. A project may have three times as many as there
 * is room for, so that no backlog leaves the others without room. Bytes: `content-room.ts`.
 */

/** `site`: as it is counted now. */
export type Flight = { site: string; projectId: string }

export type InFlight = {
  enter(flight: Flight): void
  leave(flight: Flight): void
  /** Messages of a site. */
  of(site: string): number
  total(): number
  sites(): string[]
  /** How many more messages the project may have, of `maxTotal` in all. */
  roomOf(projectId: string, maxTotal: number): number
}

const SHARE_OF_PROJECT = 3

export function createInFlight(): InFlight {
  const ofSite = new Map<string, number>()
  const ofProject = new Map<string, number>()
  let total = 0

  function add({ site, projectId }: Flight, change: 1 | -1): void {
    total += change
    count(ofSite, site, change)
    count(ofProject, projectId, change)
  }

  return {
    enter: (flight) => add(flight, 1),
    leave: (flight) => add(flight, -1),
    of: (site) => ofSite.get(site) ?? 0,
    total: () => total,
    sites: () => [...ofSite.keys()],
    roomOf(projectId, maxTotal) {
      const own = ofProject.get(projectId) ?? 0
      const free = maxTotal - total
      // So many that the last one was allowed by what was free before it.
      return Math.max(0, Math.ceil((SHARE_OF_PROJECT * free - own) / (SHARE_OF_PROJECT + 1)))
    },
  }
}

function count(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const now = (counts.get(name) ?? 0) + change
  if (now > 0) counts.set(name, now)
  else counts.delete(name)
}
