/**
 * How many messages for the server itself a network has handed in within an hour: 20 may. What is
 * remembered is bounded: of a flood of networks the oldest are forgotten first.
 */
import { LRUCache } from 'lru-cache'
import { HOUR_MS, type Now } from '../../../clock.ts'
import { networkOf } from '../client-network.ts'

export type ServerMailLimit = {
  /** Whether the network of this address may hand in one more. */
  allows(address: string): boolean
  /** Counts a message; undefined when it is one too many, else what takes the count back. */
  count(address: string): (() => void) | undefined
}

const MAX_NETWORKS = 10_000
const MAX_PER_HOUR = 20

export function createServerMailLimit(now: Now): ServerMailLimit {
  const networks = new LRUCache<string, number[]>({ max: MAX_NETWORKS })

  function recent(network: string): number[] {
    const at = now()
    // A clock that was set back keeps nobody out for longer.
    return (networks.get(network) ?? []).filter((one) => Math.abs(at - one) < HOUR_MS)
  }

  return {
    allows: (address) => recent(networkOf(address)).length < MAX_PER_HOUR,
    count(address) {
      const network = networkOf(address)
      const visits = recent(network)
      if (visits.length >= MAX_PER_HOUR) return undefined
      const visit = now()
      networks.set(network, [...visits, visit])
      return () => {
        const kept = recent(network)
        const index = kept.lastIndexOf(visit)
        networks.set(network, kept.toSpliced(index, index === -1 ? 0 : 1))
      }
    },
  }
}
