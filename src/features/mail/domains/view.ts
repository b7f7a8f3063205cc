/** The form of a domain that the API and the commands show. */
import { formatInstant } from '../../../base/clock.ts'
import type { Config } from '../../../config/config.ts'
import { displayDomain } from '../../../formats/address/address.ts'
import type { Domain } from '../../../store/schema/domains.ts'
import type { DomainStatus } from '../../../store/schema/words.ts'
import { type DomainRecord, describeRecords } from './records.ts'

export type DomainView = {
  id: string
  /** In U-labels. */
  domain: string
  verified: boolean
  trusted: boolean
  status: DomainStatus
  /** The selectors of both keys, RSA first. */
  dkimTokens: [string, string]
  records: DomainRecord[]
  projectId: string
  createdAt: string
  updatedAt: string
}

export function toDomainView(domain: Domain, { delivery }: Pick<Config, 'delivery'>): DomainView {
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
