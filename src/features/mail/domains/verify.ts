/** Checks a domain now, or trusts it without a check. */
import type { DomainRecord } from '../../../records/domain.ts'
import { eq } from '../../../store/drizzle.ts'
import { type Domain, domains } from '../../../store/schema/domains.ts'
import type { Base } from '../../ground/base.ts'
import { type CheckDeps, checkDomain } from './check.ts'
import { type DomainLookup, domainNotFound, loadDomain, toDomainRecord } from './domains.ts'
import { domainOwnedElsewhere, isOwnedElsewhere } from './ownership.ts'

type VerifyOptions = {
  /** Verifies the domain without DNS, for good: for the sandbox and for tests. */
  trust?: boolean | undefined
}

/**
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND, CONFLICT (several projects have
 *   the name), FORBIDDEN (another project has verified the domain)
 */
export async function verifyDomain(
  deps: CheckDeps,
  lookup: DomainLookup,
  { trust = false }: VerifyOptions = {},
): Promise<DomainRecord> {
  const domain = await loadDomain(deps, lookup)
  const verified = trust ? await trustDomain(deps, domain) : await checkNow(deps, domain)
  return toDomainRecord(verified, deps.config)
}

async function checkNow(deps: CheckDeps, domain: Domain): Promise<Domain> {
  const checked = await checkDomain(deps, domain)
  if (checked === undefined) throw domainNotFound(domain.id)
  if (checked.isRefused) throw domainOwnedElsewhere()
  return checked.domain
}

async function trustDomain(
  { store, directory, now }: Pick<Base, 'store' | 'directory' | 'now'>,
  domain: Domain,
): Promise<Domain> {
  const trusted = await store.write(async (tx) => {
    if (await isOwnedElsewhere(tx, domain)) throw domainOwnedElsewhere()
    tx.afterCommit(directory.drop)
    const [row] = await tx
      .update(domains)
      .set({
        isTrusted: true,
        isVerified: true,
        status: 'Success',
        failedChecks: 0,
        failingSince: null,
        updatedAt: now(),
      })
      .where(eq(domains.id, domain.id))
      .returning()
    return row
  })
  if (trusted === undefined) throw domainNotFound(domain.id)
  return trusted
}
