/**
 * Recipient domains that seem to exist: an attempt reached a mail server, or was deferred. If DNS
 * denies such a domain later, this may be a temporary mistake. Each domain is written once; a cache
 * of written domains saves the insert for further mail.
 */
import { createLru } from '../../../../base/lru.ts'
import type { AttemptOutcome } from '../../../../outbound/attempt.ts'
import { eachOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'

export type KnownDomains = {
  /** The domains that are not in the cache, without repeats. */
  listNew(seen: readonly AttemptedEmail[]): string[]
  add(domains: readonly string[]): void
}

type AttemptedEmail = {
  email: { recipientDomain: string }
  outcome: Pick<AttemptOutcome, 'host' | 'result'>
}

const MAX_CACHED = 20_000

const insertDomains = statement(
  () => sql`insert into known_domains (domain, created_at)
    select value, ${parameter('at')} from ${eachOf(parameter('domains'))} where true
    on conflict do nothing`,
)

const findDomain = statement<{ domain: string }>(
  () => sql`select domain from known_domains where domain = ${parameter('domain')}`,
)

export function createKnownDomains(): KnownDomains {
  const cached = createLru<true>(MAX_CACHED)
  return {
    listNew(seen) {
      const found = new Set<string>()
      for (const { email, outcome } of seen) {
        const { recipientDomain: domain } = email
        if (showsDomainExists(outcome) && cached.get(domain) === undefined) found.add(domain)
      }
      return [...found]
    },
    add(domains) {
      for (const domain of domains) cached.set(domain, true)
    },
  }
}

export async function insertKnownDomains(
  { knownDomains }: { knownDomains: KnownDomains },
  tx: Tx,
  { seen, at }: { seen: readonly AttemptedEmail[]; at: number },
): Promise<void> {
  const domains = knownDomains.listNew(seen)
  if (domains.length === 0) return
  await tx.execute(insertDomains, { domains: JSON.stringify(domains), at })
  tx.afterCommit(() => knownDomains.add(domains))
}

export async function isKnownDomain(tx: Tx, domain: string): Promise<boolean> {
  return (await tx.find(findDomain, { domain })) !== undefined
}

/** A smarthost accepts mail for any domain, so relayed mail proves nothing. */
function showsDomainExists({ host, result }: AttemptedEmail['outcome']): boolean {
  if (result === 'relayed') return false
  return host !== null || result === 'deferred'
}
