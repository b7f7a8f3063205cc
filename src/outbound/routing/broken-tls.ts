/** Hosts that offer STARTTLS and break the handshake: spoken to in clear for three days. */
import { LRUCache } from 'lru-cache'
import { DAY_MS, type Now } from '../../clock.ts'

export type BrokenTls = {
  add(host: string): void
  has(host: string): boolean
}

const REMEMBERED_MS = 3 * DAY_MS
const MAX_HOSTS = 10_000

export function createBrokenTls(now: Now): BrokenTls {
  const until = new LRUCache<string, number>({ max: MAX_HOSTS })
  return {
    add(host) {
      until.set(host, now() + REMEMBERED_MS)
    },
    has: (host) => (until.get(host) ?? 0) > now(),
  }
}
