/**
 * What is under way: messages by site and by project, and the bytes of their contents, shared ones
 * once. A project may have three times as many messages as there is room for, and as many bytes of
 * content as are free: neither a backlog nor large attachments leave the others without room.
 */
import type { MessageContent } from '../mail/message.ts'
import { contentBytes } from './content-bytes.ts'

/** `site`: as it is counted now. */
export type Flight = { site: string; projectId: string; content: MessageContent }

export type InFlight = {
  enter(flight: Flight): void
  leave(flight: Flight): void
  /** Messages of a site. */
  of(site: string): number
  total(): number
  sites(): string[]
  /** Contents take as much memory as they may. */
  isFull(): boolean
  /** How many more messages the project may have, of `maxTotal` in all. */
  roomOf(projectId: string, maxTotal: number): number
}

const SHARE_OF_PROJECT = 3

type Project = { count: number; bytes: number }

export function createInFlight(maxContentBytes: number): InFlight {
  const counts = new Map<string, number>()
  const projects = new Map<string, Project>()
  const contents = new Map<string, { bytes: number; uses: number }>()
  let total = 0
  let heldBytes = 0

  function add({ site, projectId }: Flight, count: 1 | -1, bytes: number): void {
    total += count
    heldBytes += bytes
    const ofSite = (counts.get(site) ?? 0) + count
    if (ofSite > 0) counts.set(site, ofSite)
    else counts.delete(site)
    const project = projects.get(projectId) ?? { count: 0, bytes: 0 }
    project.count += count
    project.bytes += bytes
    if (project.count > 0) projects.set(projectId, project)
    else projects.delete(projectId)
  }

  /** Who has nothing under way may begin when others hold more than they should. */
  function mayHoldMore(projectId: string): boolean {
    const { bytes } = projects.get(projectId) ?? { bytes: 0 }
    return bytes === 0 || bytes <= maxContentBytes - heldBytes
  }

  return {
    enter(flight) {
      const { content } = flight
      const held = contents.get(content.id) ?? { bytes: contentBytes(content), uses: 0 }
      held.uses++
      contents.set(content.id, held)
      add(flight, 1, held.uses === 1 ? held.bytes : 0)
    },
    leave(flight) {
      const held = contents.get(flight.content.id)
      const isLast = held !== undefined && --held.uses === 0
      if (isLast) contents.delete(flight.content.id)
      add(flight, -1, isLast ? -held.bytes : 0)
    },
    of: (site) => counts.get(site) ?? 0,
    total: () => total,
    sites: () => [...counts.keys()],
    isFull: () => heldBytes >= 2 * maxContentBytes,
    roomOf(projectId, maxTotal) {
      if (!mayHoldMore(projectId)) return 0
      const own = projects.get(projectId)?.count ?? 0
      const free = maxTotal - total
      // So many that the last one was allowed by what was free before it.
      return Math.max(0, Math.ceil((SHARE_OF_PROJECT * free - own) / (SHARE_OF_PROJECT + 1)))
    },
  }
}
