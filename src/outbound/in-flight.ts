/** What is under way: messages by site, and the bytes of their contents, shared ones once. */

import type { MessageContent } from '../mail/message.ts'
import { contentBytes } from './content-bytes.ts'

export type InFlight = {
  enter(site: string, content: MessageContent): void
  leave(site: string, content: MessageContent): void
  /** Messages of a site. */
  of(site: string): number
  total(): number
  sites(): string[]
  contentBytes(): number
}

export function createInFlight(): InFlight {
  const counts = new Map<string, number>()
  const contents = new Map<string, { bytes: number; uses: number }>()
  let total = 0
  let heldBytes = 0
  return {
    enter(site, content) {
      total++
      counts.set(site, (counts.get(site) ?? 0) + 1)
      const held = contents.get(content.id) ?? { bytes: contentBytes(content), uses: 0 }
      if (held.uses === 0) heldBytes += held.bytes
      held.uses++
      contents.set(content.id, held)
    },
    leave(site, content) {
      total--
      const count = (counts.get(site) ?? 0) - 1
      if (count > 0) counts.set(site, count)
      else counts.delete(site)
      const held = contents.get(content.id)
      if (held === undefined || --held.uses > 0) return
      contents.delete(content.id)
      heldBytes -= held.bytes
    },
    of: (site) => counts.get(site) ?? 0,
    total: () => total,
    sites: () => [...counts.keys()],
    contentBytes: () => heldBytes,
  }
}
