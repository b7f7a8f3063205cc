/**
 * Counts failed logins by network. The reply to each failure is delayed more than the one before.
 * After a number of failures the network is over its limit for a while: its session ends with
 * the next failure. A successful login clears the count and is never refused, since one address may
 * serve many programs, and one with an outdated key must not lock out the others. The number of
 * networks is bounded: the oldest are forgotten first. `work/limiter.ts` does not fit, because it refuses
 * attempts before they are made.
 */

import { MINUTE_MS, type Now } from '../base/clock.ts'
import { createLru } from '../base/lru.ts'
import { peerOf } from './sessions.ts'

export type FailedLogins = {
  isOverLimit(address: string): boolean
  /** Counts a failure. Returns how many milliseconds to wait before the reply. */
  failed(address: string): number
  succeeded(address: string): void
  /** How many networks have failures. */
  size(): number
}

type Failures = { count: number; lastAt: number }

const MAX_NETWORKS = 10_000
const MAX_FAILURES = 10
const MEMORY_MS = 15 * MINUTE_MS
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 8_000

export function createFailedLogins(now: Now): FailedLogins {
  const networks = createLru<Failures>(MAX_NETWORKS)

  function find(network: string): Failures | undefined {
    const failures = networks.get(network)
    if (failures === undefined) return undefined
    // A clock that was set back must not extend the limit.
    if (Math.abs(now() - failures.lastAt) < MEMORY_MS) return failures
    networks.delete(network)
    return undefined
  }

  return {
    isOverLimit: (address) => (find(peerOf(address))?.count ?? 0) >= MAX_FAILURES,
    failed: (address) => {
      const network = peerOf(address)
      const count = (find(network)?.count ?? 0) + 1
      networks.set(network, { count, lastAt: now() })
      return Math.min(FIRST_DELAY_MS * 2 ** (count - 1), MAX_DELAY_MS)
    },
    succeeded: (address) => {
      networks.delete(peerOf(address))
    },
    size: () => networks.size,
  }
}
