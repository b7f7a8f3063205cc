/**
 * What is known of contents whose messages are not made as others are: those that take long, and
 * those at which a thread ended. By the content's own id, for an hour and in memory only.
 */

import { LRUCache } from 'lru-cache'
import { HOUR_MS } from '../../clock.ts'
import type { MessageContent } from '../../mail/compose/build-message.ts'
import { costOfContent, MAX_QUICK_COST_US } from '../../mail/compose/message-cost.ts'

export type ContentHistory = {
  /** It is to be made in a composing thread. */
  isHeavy(content: MessageContent): boolean
  /** A message of it took that long; null = longer than a delivery thread may take. */
  noteTime(content: MessageContent, cpuMs: number | null): void
  /** A thread ended at it, and why; true when that was once too often. */
  noteEnd(content: MessageContent, reason: string): boolean
  /** How often a thread ended at it. */
  ends(content: MessageContent): number
  /** Why no message of it can be made any more; null when they can. */
  refusal(content: MessageContent): string | null
}

type Known = { isHeavy: boolean; ends: number; reason: string }

const MAX_KNOWN = 10_000
const KNOWN_FOR_MS = HOUR_MS
const MAX_ENDS = 2
/** What a delivery thread may be asked for in spite of having been too slow for once. */
const QUICK_MS = 25

export function createContentHistory(): ContentHistory {
  const known = new LRUCache<string, Known>({ max: MAX_KNOWN, ttl: KNOWN_FOR_MS })
  const costs = new WeakMap<MessageContent, number>()

  function costOf(content: MessageContent): number {
    const cost = costs.get(content) ?? costOfContent(content)
    costs.set(content, cost)
    return cost
  }

  function stateOf({ id }: MessageContent): Known {
    return known.get(id) ?? { isHeavy: false, ends: 0, reason: '' }
  }

  return {
    isHeavy: (content) => costOf(content) > MAX_QUICK_COST_US || stateOf(content).isHeavy,
    noteTime(content, cpuMs) {
      const isHeavy = cpuMs === null || cpuMs > QUICK_MS
      const before = stateOf(content)
      if (before.isHeavy !== isHeavy && before.ends === 0)
        known.set(content.id, { ...before, isHeavy })
    },
    noteEnd(content, reason) {
      const ends = stateOf(content).ends + 1
      known.set(content.id, { isHeavy: true, ends, reason })
      return ends >= MAX_ENDS
    },
    ends: (content) => stateOf(content).ends,
    refusal(content) {
      const { ends, reason } = stateOf(content)
      return ends < MAX_ENDS ? null : reason
    },
  }
}
