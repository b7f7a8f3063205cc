/**
 * Recipient domains where there was somebody: they took mail, put it off, or answered at all. What
 * DNS denies of them later may be a mistake of a day. Each is written once; what is on record is
 * remembered, so that the next mail to it costs nothing.
 */
import { LRUCache } from 'lru-cache'
import type { AttemptOutcome } from '../../../outbound/attempt.ts'
import { eachOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

export type KnownDomains = {
  /** Not remembered yet, each once. */
  listNew(seen: readonly Seen[]): string[]
  remember(domains: readonly string[]): void
}

type Seen = { email: { recipientDomain: string }; outcome: Pick<AttemptOutcome, 'host' | 'result'> }

const MAX_REMEMBERED = 50_000

const insertDomains = statement(
  () => sql`insert into known_domains (domain, created_at)
    select value, ${parameter('at')} from ${eachOf(parameter('domains'))} where true
    on conflict do nothing`,
)

const findDomain = statement<{ domain: string }>(
  () => sql`select domain from known_domains where domain = ${parameter('domain')}`,
)

export function createKnownDomains(): KnownDomains {
  const remembered = new LRUCache<string, true>({ max: MAX_REMEMBERED })
  return {
    listNew(seen) {
      const found = new Set<string>()
      for (const { email, outcome } of seen) {
        const { recipientDomain: domain } = email
        if (isThere(outcome) && remembered.get(domain) === undefined) found.add(domain)
      }
      return [...found]
    },
    remember(domains) {
      for (const domain of domains) remembered.set(domain, true)
    },
  }
}

export async function insertKnownDomains(
  { knownDomains }: { knownDomains: KnownDomains },
  tx: Tx,
  { seen, at }: { seen: readonly Seen[]; at: number },
): Promise<void> {
  const domains = knownDomains.listNew(seen)
  if (domains.length === 0) return
  await tx.execute(insertDomains, { domains: JSON.stringify(domains), at })
  tx.afterCommit(() => knownDomains.remember(domains))
}

export async function isKnownDomain(tx: Tx, domain: string): Promise<boolean> {
  return (await tx.find(findDomain, { domain })) !== undefined
}

/** A smarthost takes mail for any domain. */
function isThere({ host, result }: Seen['outcome']): boolean {
  if (result === 'relayed') return false
  return host !== null || result === 'deferred'
}
