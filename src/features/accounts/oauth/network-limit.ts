/** Limits what each network of clients may begin in a minute. The number of networks is bounded. */
import { LRUCache } from 'lru-cache'
import { MINUTE_MS, type Now } from '../../../clock.ts'
import { LoginFailure } from './login-failure.ts'

type Minute = { since: number; count: number }

const MAX_NETWORKS = 10_000

/** The function counts one. @throws LoginFailure too_many_attempts */
export function createNetworkLimit(perMinute: number, now: Now): (network: string) => void {
  const minutes = new LRUCache<string, Minute>({ max: MAX_NETWORKS })
  return (network) => {
    const at = now()
    const known = minutes.get(network)
    // A clock that was set back must not extend the limit.
    const isOver = known === undefined || Math.abs(at - known.since) >= MINUTE_MS
    const minute = isOver ? { since: at, count: 0 } : known
    minutes.set(network, minute)
    minute.count += 1
    if (minute.count > perMinute) {
      throw new LoginFailure('too_many_attempts', `more than ${perMinute} in a minute`)
    }
  }
}
