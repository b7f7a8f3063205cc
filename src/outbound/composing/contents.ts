/**
 * Records about contents: their size, the memory that they take while they are in use, and which of
 * them take long to compose or have ended a thread.
 */

import { HOUR_MS } from '../../base/clock.ts'
import { createLru } from '../../base/lru.ts'
import { attachedBytes } from '../../formats/compose/attachment.ts'
import { type MessageContent, recipientsLength } from '../../formats/compose/message-content.ts'
import { costOfContent, MAX_QUICK_COST_US } from '../../formats/compose/message-cost.ts'

/** Counts the memory of large contents in use. A shared content counts once; small ones do not count. */
type ContentMemory = {
  /** Whether outbound has memory for a content of that size, so that it may be read now. */
  hasSpace(projectId: string, bytes: number): boolean
  enter(projectId: string, content: MessageContent): void
  leave(content: MessageContent): void
}

/** The history of each content, by its own id. It is kept in memory for an hour. */
export type ContentHistory = {
  /** Whether messages of this content are composed in a composing thread. */
  isHeavy(content: MessageContent): boolean
  /**
   * Records how long one message of this content took to compose; null = longer than a delivery
   * thread may take.
   */
  recordTime(content: MessageContent, cpuMs: number | null): void
  /**
   * Records that a thread ended while it composed a message of this content. Returns true once the
   * content has ended too many threads.
   */
  recordThreadEnd(content: MessageContent, reason: string): boolean
  /** How often a thread ended while it composed a message of this content. */
  threadEnds(content: MessageContent): number
  /** The reason for which messages of the content are no longer composed; null if they are. */
  refusal(content: MessageContent): string | null
}

/** A content up to this size is not counted: it always has memory. */
export const SMALL_CONTENT_BYTES = 64 * 1024
const MAX_CONTENTS_BYTES = 96 * 1024 * 1024
const MAX_CONTENTS_BYTES_OF_PROJECT = 48 * 1024 * 1024
/** The limit of the sum when a project enters its first content; else `MAX_CONTENTS_BYTES`. */
const MAX_TOTAL_CONTENTS_BYTES = 192 * 1024 * 1024
/** CPU time for each megabyte of content: twice what the most expensive texts take. */
const MS_PER_MEGABYTE = 250
const MAX_KNOWN_CONTENTS = 10_000
const KNOWN_FOR_MS = HOUR_MS
const MAX_THREAD_ENDS = 2
/** A content that was too slow once returns to delivery threads if it takes no longer than this. */
const QUICK_COMPOSING_MS = 25

/** Returns about how many bytes of memory a content takes; most of a large content is its attachments. */
export function contentBytes(content: MessageContent): number {
  const { subject, body, text, attachments, recipientFields } = content
  const texts = subject.length + body.length + (text?.length ?? 0)
  return texts + recipientsLength(recipientFields) + attachedBytes(attachments)
}

/** Returns how much longer than usual composing a message of this content may take. */
export function extraMs(content: MessageContent): number {
  return (contentBytes(content) / 1_000_000) * MS_PER_MEGABYTE
}

export function createContentMemory(): ContentMemory {
  const contents = new Map<string, { projectId: string; bytes: number; uses: number }>()
  const ofProject = new Map<string, number>()
  let total = 0

  function count(projectId: string, bytes: number): void {
    total += bytes
    const own = (ofProject.get(projectId) ?? 0) + bytes
    if (own > 0) ofProject.set(projectId, own)
    else ofProject.delete(projectId)
  }

  return {
    hasSpace(projectId, bytes) {
      if (bytes <= SMALL_CONTENT_BYTES || total === 0) return true
      const own = ofProject.get(projectId) ?? 0
      if (own === 0) return total + bytes <= MAX_TOTAL_CONTENTS_BYTES
      return own + bytes <= MAX_CONTENTS_BYTES_OF_PROJECT && total + bytes <= MAX_CONTENTS_BYTES
    },
    enter(projectId, content) {
      const known = contents.get(content.id)
      if (known !== undefined) {
        known.uses++
        return
      }
      const bytes = contentBytes(content)
      if (bytes <= SMALL_CONTENT_BYTES) return
      contents.set(content.id, { projectId, bytes, uses: 1 })
      count(projectId, bytes)
    },
    leave({ id }) {
      const used = contents.get(id)
      if (used === undefined || --used.uses > 0) return
      contents.delete(id)
      count(used.projectId, -used.bytes)
    },
  }
}

type KnownContent = { isHeavy: boolean; threadEnds: number; reason: string }

export function createContentHistory(): ContentHistory {
  const known = createLru<KnownContent>(MAX_KNOWN_CONTENTS, { ttlMs: KNOWN_FOR_MS })
  const costs = new WeakMap<MessageContent, number>()

  function costOf(content: MessageContent): number {
    const cost = costs.get(content) ?? costOfContent(content)
    costs.set(content, cost)
    return cost
  }

  function stateOf({ id }: MessageContent): KnownContent {
    return known.get(id) ?? { isHeavy: false, threadEnds: 0, reason: '' }
  }

  return {
    isHeavy: (content) => costOf(content) > MAX_QUICK_COST_US || stateOf(content).isHeavy,
    recordTime(content, cpuMs) {
      const isHeavy = cpuMs === null || cpuMs > QUICK_COMPOSING_MS
      const before = stateOf(content)
      if (before.isHeavy !== isHeavy && before.threadEnds === 0)
        known.set(content.id, { ...before, isHeavy })
    },
    recordThreadEnd(content, reason) {
      const threadEnds = stateOf(content).threadEnds + 1
      known.set(content.id, { isHeavy: true, threadEnds, reason })
      return threadEnds >= MAX_THREAD_ENDS
    },
    threadEnds: (content) => stateOf(content).threadEnds,
    refusal(content) {
      const { threadEnds, reason } = stateOf(content)
      return threadEnds < MAX_THREAD_ENDS ? null : reason
    },
  }
}
