/**
 * Counts the DNS look-ups that a whole SPF record may cost (RFC 7208 section 4.6.4): `include`, `a`,
 * `mx`, `ptr`, `exists` and `redirect`, also those of included records. An evaluation ends at the first
 * match and may need fewer, but which term matches depends on the address and on other people's
 * records, so a record is safe only when its whole fits.
 */
import type { ProbeDns } from '../../../outbound/probe/probes.ts'

export const MAX_SPF_LOOKUPS = 10

export type SpfLookups = {
  count: number
  /** The terms that cost one, in their order. */
  terms: string[]
  /** Whether the count stopped before the end of the record. */
  isCut: boolean
}

/** Beyond this the answer is clear, and a record that includes itself has no end. */
const MAX_COUNTED = 25

/** `domain` in A-labels. Names with macros count, and what they lead to does not. */
export async function countSpfLookups(
  dns: Pick<ProbeDns, 'txt'>,
  domain: string,
): Promise<SpfLookups> {
  const counted: SpfLookups = { count: 0, terms: [], isCut: false }
  await countRecord(dns, domain, counted)
  return counted
}

async function countRecord(
  dns: Pick<ProbeDns, 'txt'>,
  domain: string,
  counted: SpfLookups,
): Promise<void> {
  const record = await findSpfRecord(dns, domain)
  if (record === undefined) return
  const terms = record.split(/ +/).slice(1)
  // `all` always matches: what follows it is ignored, and so is every redirect (section 5.1).
  const end = terms.findIndex((term) => /^[+\-~?]?all$/i.test(term))
  const hasAll = end !== -1
  for (const term of hasAll ? terms.slice(0, end) : terms) {
    const [, word = '', name = ''] =
      /^[+\-~?]?(include|a|mx|ptr|exists|redirect)(?:[:=]([^/]*))?(?:\/.*)?$/i.exec(term) ?? []
    const mechanism = word.toLowerCase()
    if (mechanism === '' || (mechanism === 'redirect' && hasAll)) continue
    if (counted.count >= MAX_COUNTED) {
      counted.isCut = true
      return
    }
    counted.count += 1
    counted.terms.push(term)
    const leadsOn = mechanism === 'include' || mechanism === 'redirect'
    if (leadsOn && name !== '' && !name.includes('%')) await countRecord(dns, name, counted)
  }
}

/** The only SPF record of a name; undefined without one, with two, and without an answer. */
export async function findSpfRecord(
  dns: Pick<ProbeDns, 'txt'>,
  domain: string,
): Promise<string | undefined> {
  const answer = await dns.txt(domain)
  if (answer.kind !== 'found') return undefined
  const records = answer.records.filter((text) => /^v=spf1(?: |$)/i.test(text))
  return records.length === 1 ? records[0] : undefined
}
