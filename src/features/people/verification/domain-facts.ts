/** Finds the facts about a mail domain in DNS. */

import type { DnsAnswer } from '../../../outbound/dns/answer.ts'
import type { Resolver } from '../../../outbound/dns/resolver.ts'

export type DomainFacts =
  /** The domain does not exist (NXDOMAIN). */
  | { kind: 'missing' }
  | {
      kind: 'there'
      /** `refused`: a null MX (RFC 7505), which declares that the domain accepts no mail. */
      mail: 'mx' | 'none' | 'refused'
      /** `found`: an A or AAAA record. */
      website: 'found' | 'none' | 'unknown' | 'unasked'
    }
  /** The name servers gave no answer. `retryAt`: epoch ms of the earliest useful retry. */
  | { kind: 'unknown'; error: string; retryAt: number }

type DomainQuery = {
  /** In A-labels. */
  domain: string
  /** Whether to query A and AAAA records too. */
  withWebsite: boolean
}

export async function findDomainFacts(
  dns: Pick<Resolver, 'a' | 'aaaa' | 'mx'>,
  { domain, withWebsite }: DomainQuery,
): Promise<DomainFacts> {
  const answer = await dns.mx(domain)
  switch (answer.kind) {
    case 'failed':
      return { kind: 'unknown', error: answer.error, retryAt: answer.expiresAt }
    case 'nxdomain':
      return { kind: 'missing' }
    case 'nodata':
    case 'found': {
      const website = withWebsite ? await findWebsite(dns, domain) : 'unasked'
      return { kind: 'there', mail: mailByMx(answer), website }
    }
  }
}

function mailByMx(answer: DnsAnswer<{ host: string }>): 'mx' | 'none' | 'refused' {
  if (answer.kind !== 'found') return 'none'
  return answer.records.some(({ host }) => host !== '') ? 'mx' : 'refused'
}

async function findWebsite(
  dns: Pick<Resolver, 'a' | 'aaaa'>,
  domain: string,
): Promise<'found' | 'none' | 'unknown'> {
  const answers = await Promise.all([dns.a(domain), dns.aaaa(domain)])
  if (answers.some(({ kind }) => kind === 'found')) return 'found'
  return answers.some(({ kind }) => kind === 'failed') ? 'unknown' : 'none'
}
