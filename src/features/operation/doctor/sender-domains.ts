/**
 * Finds the sender domains of the projects, with what DNS says of their records. The domains are
 * only queried in DNS, because their records are strangers' texts. A run checks a bounded number of
 * domains, those with faults first, so that a server with thousands of domains sends a bounded
 * number of queries.
 */
import { asc, desc, isNotNull, or, sql } from '../../../store/drizzle.ts'
import { type Domain, domains } from '../../../store/schema/domains.ts'
import { type DnsFinding, queryRecords } from '../../mail/domains/query-records.ts'
import { formatZoneLine, type RecordPurpose, wantedRecords } from '../../mail/domains/records.ts'
import type { DoctorDeps } from './deps.ts'

export type CheckedDomain = {
  /** In A-labels. */
  name: string
  domain: Domain
  /**
   * Returns the state and the content of a record as DNS gave it, and the line to paste into the
   * zone.
   */
  record(purpose: RecordPurpose): { state: DnsFinding['state']; found: string[]; zoneLine: string }
}

export type SenderDomains = { checked: CheckedDomain[]; total: number }

const MAX_DOMAINS = 100
/**
 * The number of domains that are queried at a time. A high number keeps the rounds few, so that
 * slow DNS servers do not use up the time of the other domains.
 */
const AT_ONCE = 50

/**
 * Finds the domains that send. A domain that has lost its verification is one of them, because its
 * mail waits for the repair.
 */
export async function findSenderDomains(deps: DoctorDeps): Promise<SenderDomains> {
  const { store } = deps
  const isSending = or(sql`${domains.isVerified} = 1`, isNotNull(domains.failingSince))
  const [rows, counted] = await Promise.all([
    store.scan
      .select()
      .from(domains)
      .where(isSending)
      .orderBy(desc(sql`${domains.failingSince} is not null`), asc(domains.id))
      .limit(MAX_DOMAINS),
    store.scan.select({ total: sql<number>`count(*)` }).from(domains).where(isSending).get(),
  ])
  const checked: CheckedDomain[] = []
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    const group = rows.slice(at, at + AT_ONCE).map((domain) => queryDomain(deps, domain))
    checked.push(...(await Promise.all(group)))
  }
  return { checked, total: counted?.total ?? 0 }
}

async function queryDomain({ config, probes }: DoctorDeps, domain: Domain): Promise<CheckedDomain> {
  const wanted = wantedRecords(domain, config.delivery.hostname).filter(
    ({ purpose }) => purpose !== 'replies',
  )
  const findings = await queryRecords(probes.dns, wanted)
  return {
    name: domain.domain,
    domain,
    record(purpose) {
      const finding = findings.find((one) => one.purpose === purpose)
      const record = wanted.find((one) => one.purpose === purpose)
      const zoneLine = record === undefined ? '' : formatZoneLine(record)
      return { state: finding?.state ?? 'unknown', found: finding?.found ?? [], zoneLine }
    },
  }
}

/** Names the checked domains: "12 domains", or "100 of 340 domains". */
export function countDomains({ checked, total }: SenderDomains): string {
  const { length } = checked
  if (length < total) return `${length} of ${total} domains`
  return length === 1 ? '1 domain' : `${length} domains`
}
