/**
 * Limits messages to the server itself (`postmaster`, `abuse`) to 20 an hour from one network. The
 * counts of 10,000 networks are in memory; the least recently used one is dropped. `work/limiter.ts` does not
 * fit: a count is taken back when the message was not accepted after all.
 */

import { HOUR_MS, type Now } from '../../../../base/clock.ts'
import { createLru } from '../../../../base/lru.ts'
import { clientNetworkOf } from '../client-network.ts'

export type ServerMailLimit = {
  /** Whether the network of this address may send another message. */
  allows(address: string): boolean
  /** Counts a message and returns a function that undoes the count; undefined beyond the limit. */
  count(address: string): (() => void) | undefined
}

const MAX_NETWORKS = 10_000
const MAX_PER_HOUR = 20

export function createServerMailLimit(now: Now): ServerMailLimit {
  const networks = createLru<number[]>(MAX_NETWORKS)

  function recent(network: string): number[] {
    const at = now()
    // The absolute value: a clock that was set back blocks no network for longer.
    return (networks.get(network) ?? []).filter((one) => Math.abs(at - one) < HOUR_MS)
  }

  return {
    allows: (address) => recent(clientNetworkOf(address)).length < MAX_PER_HOUR,
    count(address) {
      const network = clientNetworkOf(address)
      const counted = recent(network)
      if (counted.length >= MAX_PER_HOUR) return undefined
      const at = now()
      networks.set(network, [...counted, at])
      return () => {
        const left = recent(network)
        const index = left.lastIndexOf(at)
        networks.set(network, left.toSpliced(index, index === -1 ? 0 : 1))
      }
    },
  }
}
