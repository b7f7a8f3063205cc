/** What DNS says of a mail domain. */
import type { DnsAnswer, Resolver } from '../../outbound/dns/resolver.ts'

export type DomainFacts =
  /** The name answers NXDOMAIN. */
  | { kind: 'missing' }
  | {
      kind: 'there'
      /** `refused`: a null MX (RFC 7505), which says that it takes none. */
      mail: 'mx' | 'none' | 'refused'
      /** `found`: an A or AAAA record. */
      website: 'found' | 'none' | 'unknown' | 'unasked'
    }
  /** Nobody could say whether it takes mail. `retryAt`: epoch ms before which asking is of no use. */
  | { kind: 'unknown'; error: string; retryAt: number }

export type FactsQuestion = {
  /** In A-labels. */
  domain: string
  /** Its addresses are asked for too. */
  withWebsite: boolean
}

export async function findDomainFacts(
  dns: Pick<Resolver, 'a' | 'aaaa' | 'mx'>,
  { domain, withWebsite }: FactsQuestion,
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
      return { kind: 'there', mail: mailOf(answer), website }
    }
  }
}

function mailOf(answer: DnsAnswer<{ host: string }>): 'mx' | 'none' | 'refused' {
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
