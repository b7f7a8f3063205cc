/**
 * Adds a sender domain to a project: makes its keys and returns the DNS records to publish. The
 * project cannot send from the domain before a check has found the required record.
 */
import { AppError, invalidField } from '../../../base/errors.ts'
import { parseDomain } from '../../../formats/address/address.ts'
import type { DomainRecord } from '../../../records/domain.ts'
import { and, eq } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import { type Domain, domains } from '../../../store/schema/domains.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { type DomainKeys, makeDomainKeys } from './keys.ts'
import {
  domainOwnedElsewhere,
  isOwnedElsewhere,
  isUnderDisabledRoot,
  type Queries,
  requireEnabledProject,
} from './ownership.ts'
import { toDomainRecord } from './view.ts'

type DomainInput = { projectId: string; domain: string }

type NewDomain = {
  projectId: string
  /** In A-labels. */
  domain: string
  keys: DomainKeys
  isTrusted: boolean
  at: number
}

type AddDomainDeps = Pick<Base, 'store' | 'config' | 'keyring' | 'now'>

/**
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND (project), PROJECT_DISABLED, BAD_REQUEST
 *   (the project has the domain already), FORBIDDEN (another project has verified it, or a disabled
 *   project has verified its root domain)
 */
export async function addDomain(deps: AddDomainDeps, input: DomainInput): Promise<DomainRecord> {
  const added = { projectId: input.projectId, domain: readDomainName(input.domain) }
  // Checked before the expensive keys are made, and again in the transaction.
  await refuseUnavailable(deps.store.read, added)
  const keys = await makeDomainKeys(deps)
  const row = await deps.store.write(async (tx) => {
    await refuseUnavailable(tx, added)
    return insertDomain(tx, { ...added, keys, isTrusted: false, at: deps.now() })
  })
  return toDomainRecord(row, deps.config)
}

/** Returns the A-label form. @throws AppError VALIDATION_ERROR */
export function readDomainName(text: string): string {
  const domain = parseDomain(text)
  if (domain === undefined) throw invalidField('domain', 'invalid_string', 'Not a domain name')
  return domain
}

/** The caller has checked that no other project owns the domain. */
export async function insertDomain(tx: Tx, domain: NewDomain): Promise<Domain> {
  const { keys, isTrusted, at, ...added } = domain
  const state = { isTrusted, isVerified: isTrusted, status: initialStatus(isTrusted) }
  const times = { createdAt: at, updatedAt: at }
  return tx
    .insert(domains)
    .values({ id: newId(), ...added, ...keys, ...state, ...times })
    .returning()
    .get()
}

function initialStatus(isTrusted: boolean): Domain['status'] {
  return isTrusted ? 'Success' : 'Pending'
}

async function refuseUnavailable(queries: Queries, added: DomainInput): Promise<void> {
  await requireEnabledProject(queries, added.projectId)
  if (await isAdded(queries, added)) {
    throw new AppError('BAD_REQUEST', 'This project has this domain already.')
  }
  if (await isOwnedElsewhere(queries, added)) throw domainOwnedElsewhere()
  if (await isUnderDisabledRoot(queries, added.domain)) {
    throw new AppError('FORBIDDEN', 'This domain cannot be added on this server.')
  }
}

async function isAdded(queries: Queries, { projectId, domain }: DomainInput): Promise<boolean> {
  const known = await queries
    .select({ id: domains.id })
    .from(domains)
    .where(and(eq(domains.projectId, projectId), eq(domains.domain, domain)))
    .get()
  return known !== undefined
}
