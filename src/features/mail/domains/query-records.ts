/**
 * Queries DNS for the wanted records of a domain. `missing` (NXDOMAIN or no such record) and
 * `different` (another record) are definitive; `unknown` means that no server answered.
 */
import { getDomain } from 'tldts'
import type { DnsAnswer, MxRecord } from '../../../outbound/dns/answer.ts'
import type { Resolver } from '../../../outbound/dns/resolver.ts'
import type { RecordFinding } from '../../../store/schema/json-values.ts'
import type { RecordPurpose, WantedRecord } from './records.ts'

export type DnsFinding = RecordFinding & { purpose: RecordPurpose }

type QueryResult = Pick<RecordFinding, 'state' | 'found'>
type Texts = readonly string[]
type TextRule = {
  /** Whether a record is of the wanted kind. */
  isOfKind(text: string): boolean
  isRight(texts: Texts, wanted: string): boolean
}

const MAX_SHOWN_RECORDS = 10
const MAX_SHOWN_LENGTH = 600

/** Queries the name servers for the records, past the resolver's cache. */
export async function queryRecords(
  resolver: Pick<Resolver, 'txt' | 'mx'>,
  records: readonly WantedRecord[],
): Promise<DnsFinding[]> {
  return Promise.all(
    records.map(async (record) => ({
      purpose: record.purpose,
      ...(record.type === 'MX'
        ? await queryMx(resolver, record)
        : await queryText(resolver, record)),
    })),
  )
}

async function queryMx(
  resolver: Pick<Resolver, 'mx'>,
  { name, value }: WantedRecord,
): Promise<QueryResult> {
  const answer = await resolver.mx(name, { isFresh: true })
  if (answer.kind !== 'found') return absence(answer)
  const [, host] = value.toLowerCase().split(' ')
  const isRight = answer.records.some((record) => record.host === host)
  return { state: isRight ? 'found' : 'different', found: shown(answer.records.map(formatMx)) }
}

async function queryText(
  resolver: Pick<Resolver, 'txt'>,
  record: WantedRecord,
): Promise<QueryResult> {
  const result = await queryTextAt(resolver, record)
  if (record.purpose !== 'dmarc' || result.state !== 'missing') return result
  // The policy of the organisation covers its subdomains (RFC 7489 section 6.6.3).
  const organization = getDomain(record.name.slice('_dmarc.'.length), {
    allowPrivateDomains: true,
  })
  const name = `_dmarc.${organization}`
  if (organization === null || name === record.name) return result
  return queryTextAt(resolver, { ...record, name })
}

async function queryTextAt(
  resolver: Pick<Resolver, 'txt'>,
  { purpose, name, value }: WantedRecord,
): Promise<QueryResult> {
  const answer = await resolver.txt(name, { isFresh: true })
  if (answer.kind !== 'found') return absence(answer)
  const { isOfKind, isRight } = TEXT_RULES[purpose] ?? KEY_RULE
  const texts = answer.records.filter(isOfKind)
  if (texts.length === 0) return { state: 'missing', found: [] }
  return { state: isRight(texts, value) ? 'found' : 'different', found: shown(texts) }
}

function absence(answer: DnsAnswer<unknown>): QueryResult {
  return { state: answer.kind === 'failed' ? 'unknown' : 'missing', found: [] }
}

/** Any TXT record at the name of a key counts as a key, because verifiers take it for one. */
const KEY_RULE: TextRule = {
  isOfKind: () => true,
  isRight: (texts, wanted) => texts.some((text) => isSameKey(text, wanted)),
}

const TEXT_RULES: Partial<Record<RecordPurpose, TextRule>> = {
  // Two SPF records are an error (RFC 7208 section 4.5); mechanisms besides `mx` are not.
  'return-path-spf': {
    isOfKind: (text) => /^v=spf1(?: |$)/i.test(text),
    isRight: (texts) => texts.length === 1 && /(?:^| )\+?mx(?: |$)/i.test(texts[0] ?? ''),
  },
  // A record with any policy is right, but two records count as none (RFC 7489 section 6.6.3).
  dmarc: {
    isOfKind: (text) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text),
    isRight: (texts) => texts.length === 1,
  },
}

/** Whether a record publishes the wanted key for mail (RFC 6376 section 3.6.1). */
function isSameKey(text: string, wanted: string): boolean {
  const found = readTags(text)
  const expected = readTags(wanted)
  const allows = (name: string, ...values: string[]) => {
    const list = found.get(name)?.toLowerCase().split(':')
    return list === undefined || values.some((value) => list.includes(value))
  }
  return (
    found.get('p') === expected.get('p') &&
    allows('v', 'dkim1') &&
    (found.get('k') ?? 'rsa').toLowerCase() === expected.get('k') &&
    allows('h', 'sha256') &&
    allows('s', '*', 'email')
  )
}

/**
 * Reads `tag=value` pairs between `;` and removes white space, which means nothing in these tags.
 */
function readTags(text: string): Map<string, string> {
  const tags = text.replace(/\s+/g, '').split(';')
  return new Map(
    tags.map((tag) => {
      const equalsAt = tag.indexOf('=')
      return [tag.slice(0, Math.max(equalsAt, 0)), tag.slice(equalsAt + 1)]
    }),
  )
}

function formatMx({ preference, host }: MxRecord): string {
  return `${preference} ${host === '' ? '.' : host}`
}

function shown(texts: Texts): string[] {
  return texts.slice(0, MAX_SHOWN_RECORDS).map((text) => text.slice(0, MAX_SHOWN_LENGTH))
}
