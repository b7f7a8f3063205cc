/**
 * Who guesses passwords: failed logins by the party they come from. Each failure is answered later
 * than the one before, and after some of them the party counts as a guesser for a while, whose
 * session ends with the next. A login that succeeds forgets them, and is never refused: one address
 * is that of many programs, and one with an old key must not silence the others. What is remembered
 * is bounded: of a flood of parties the oldest are forgotten first.
 */
import { LRUCache } from 'lru-cache'
import { MINUTE_MS, type Now } from '../clock.ts'
import { peerOf } from './sessions.ts'

export type Guesses = {
  isGuesser(address: string): boolean
  /** Counts a failure; how many milliseconds to wait before answering it. */
  failed(address: string): number
  succeeded(address: string): void
  /** Parties remembered at the moment. */
  size(): number
}

type Failures = { count: number; lastAt: number }

const MAX_PARTIES = 10_000
const MAX_FAILURES = 10
const MEMORY_MS = 15 * MINUTE_MS
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 8_000

export function createGuesses(now: Now): Guesses {
  const parties = new LRUCache<string, Failures>({ max: MAX_PARTIES })

  function recall(party: string): Failures | undefined {
    const failures = parties.get(party)
    if (failures === undefined) return undefined
    // A clock that was set back does not make anybody a guesser for longer.
    if (Math.abs(now() - failures.lastAt) < MEMORY_MS) return failures
    parties.delete(party)
    return undefined
  }

  return {
    isGuesser: (address) => (recall(peerOf(address))?.count ?? 0) >= MAX_FAILURES,
    failed: (address) => {
      const party = peerOf(address)
      const count = (recall(party)?.count ?? 0) + 1
      parties.set(party, { count, lastAt: now() })
      return Math.min(FIRST_DELAY_MS * 2 ** (count - 1), MAX_DELAY_MS)
    },
    succeeded: (address) => {
      parties.delete(peerOf(address))
    },
    size: () => parties.size,
  }
}
