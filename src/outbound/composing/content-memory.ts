/**
 * How much of large contents is under way, shared ones once: so much that the memory suffices, and
 * of one project only so much that others find room. Small contents are bounded by the number of
 * messages.
 */
import type { MessageContent } from '../../mail/compose/build-message.ts'
import { contentBytes } from './content-size.ts'

export type ContentMemory = {
  /** Whether a content of that size may be read and brought now. */
  mayBring(projectId: string, bytes: number): boolean
  enter(projectId: string, content: MessageContent): void
  leave(content: MessageContent): void
}

type Held = { projectId: string; bytes: number; uses: number }

const SMALL_BYTES = 64 * 1024
const MAX_BYTES = 96 * 1024 * 1024
const MAX_BYTES_OF_PROJECT = 48 * 1024 * 1024
/** Including what projects bring that have nothing under way. */
const MAX_BYTES_AT_ALL = 192 * 1024 * 1024

export function createContentMemory(): ContentMemory {
  const contents = new Map<string, Held>()
  const ofProject = new Map<string, number>()
  let total = 0

  function count(projectId: string, bytes: number): void {
    total += bytes
    const own = (ofProject.get(projectId) ?? 0) + bytes
    if (own > 0) ofProject.set(projectId, own)
    else ofProject.delete(projectId)
  }

  return {
    mayBring(projectId, bytes) {
      if (bytes <= SMALL_BYTES || total === 0) return true
      const own = ofProject.get(projectId) ?? 0
      if (own === 0) return total + bytes <= MAX_BYTES_AT_ALL
      return own + bytes <= MAX_BYTES_OF_PROJECT && total + bytes <= MAX_BYTES
    },
    enter(projectId, content) {
      const known = contents.get(content.id)
      if (known !== undefined) {
        known.uses++
        return
      }
      const bytes = contentBytes(content)
      if (bytes <= SMALL_BYTES) return
      contents.set(content.id, { projectId, bytes, uses: 1 })
      count(projectId, bytes)
    },
    leave({ id }) {
      const held = contents.get(id)
      if (held === undefined || --held.uses > 0) return
      contents.delete(id)
      count(held.projectId, -held.bytes)
    },
  }
}
