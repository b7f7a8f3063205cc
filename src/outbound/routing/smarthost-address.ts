/** Finds the addresses of the smarthost: a literal, a DNS name, or a name of this system only. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { MINUTE_MS, type Now } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import type { Resolver } from '../dns/resolver.ts'

/** `error`: why there is no address. `expiresAt`: epoch ms. */
type SmarthostAddresses = { addresses: string[]; error: string | null; expiresAt: number }

const SYSTEM_ANSWER_MS = MINUTE_MS
const FAILURE_MS = 10_000

export async function findSmarthostAddresses(
  { resolver, now }: { resolver: Pick<Resolver, 'a' | 'aaaa'>; now: Now },
  host: string,
): Promise<SmarthostAddresses> {
  if (isIP(host) !== 0) return { addresses: [host], error: null, expiresAt: Infinity }
  const options = { isUnjudged: true }
  const answers = await Promise.all([resolver.a(host, options), resolver.aaaa(host, options)])
  const found = answers.filter((answer) => answer.kind === 'found')
  if (found.length === 0) return querySystem(host, now)
  const addresses = found.flatMap(({ records }) => records)
  return { addresses, error: null, expiresAt: Math.min(...found.map((one) => one.expiresAt)) }
}

/** Queries the system, which also resolves the hosts file, container networks and `localhost`. */
async function querySystem(host: string, now: Now): Promise<SmarthostAddresses> {
  try {
    const found = await lookup(host, { all: true })
    const addresses = found.map(({ address }) => address)
    return { addresses, error: null, expiresAt: now() + SYSTEM_ANSWER_MS }
  } catch (error) {
    return { addresses: [], error: describeError(error), expiresAt: now() + FAILURE_MS }
  }
}
