/** The form of a domain that the API and the commands show. */
import { formatInstant } from '../../../base/clock.ts'
import type { Config } from '../../../config/config.ts'
import { displayDomain } from '../../../formats/address/address.ts'
import type { DomainRecord } from '../../../records/domain.ts'
import type { Domain } from '../../../store/schema/domains.ts'
import { describeRecords } from './records.ts'

export function toDomainRecord(
  domain: Domain,
  { delivery }: Pick<Config, 'delivery'>,
): DomainRecord {
  return {
    id: domain.id,
    domain: displayDomain(domain.domain),
    verified: domain.isVerified,
    trusted: domain.isTrusted,
    status: domain.status,
    dkimTokens: [domain.rsaSelector, domain.ed25519Selector],
    records: describeRecords(domain, delivery.hostname),
    projectId: domain.projectId,
    createdAt: formatInstant(domain.createdAt),
    updatedAt: formatInstant(domain.updatedAt),
  }
}
