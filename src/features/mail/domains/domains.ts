/**
 * The sender domains of projects: adds, lists, loads and deletes them. A project cannot send from a domain before a
 * check has found the required record.
 */
import { formatInstant } from '../../../base/clock.ts'
import { AppError, invalidField, notFound } from '../../../base/errors.ts'
import type { Config } from '../../../config/config.ts'
import { displayDomain, parseDomain } from '../../../formats/address/address.ts'
import type { DomainRecord } from '../../../records/domain.ts'
import { and, desc, eq, type SQL } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import { type Domain, domains } from '../../../store/schema/domains.ts'
import type { Queries, Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import type { References } from '../../ground/manifest/reference.ts'
import { findReferences, isUsed } from '../../ground/references/registry.ts'
import { type DomainKeys, makeDomainKeys } from './keys.ts'
import {
  domainOwnedElsewhere,
  isOwnedElsewhere,
  isUnderDisabledRoot,
  requireEnabledProject,
} from './ownership.ts'
import { describeRecords } from './records.ts'

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

/** A lookup without a project finds the domain of any project (for operators). */
export type DomainLookup = { projectId?: string | undefined } & (
  | { id: string }
  | { domain: string }
)

/** The error about several domains of one name lists at most this many ids. */
const MAX_NAMED_DOMAINS = 100

const MAX_NAMED = 10

const FOR_TEMPLATES = 'Give each template another sender, or delete it.'

const FOR_STEPS = 'A template that a step of a workflow sends cannot be deleted.'

const FOR_CAMPAIGNS =
  'Give each draft or scheduled campaign another sender; a draft can be deleted, a scheduled ' +
  'campaign cancelled. A campaign that is being sent must end or be cancelled first.'

/** Returns the form of a domain that the API and the commands show. */
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

/**
 * Adds a sender domain to a project: makes its keys and returns the DNS records to publish. @throws AppError
 * VALIDATION_ERROR, RESOURCE_NOT_FOUND (project), PROJECT_DISABLED, BAD_REQUEST (the project has the domain already),
 * FORBIDDEN (another project has verified it, or a disabled project has verified its root domain)
 */
export async function addDomain(deps: AddDomainDeps, input: DomainInput): Promise<DomainRecord> {
  const added = { projectId: input.projectId, domain: readDomainName(input.domain) }
  // The check comes before the keys are made, which is expensive, and again in the transaction.
  await refuseUnavailable(deps.store.read, added)
  const keys = await makeDomainKeys(deps)
  const row = await deps.store.write(async (tx) => {
    await refuseUnavailable(tx, added)
    return insertDomain(tx, { ...added, keys, isTrusted: false, at: deps.now() })
  })
  return toDomainRecord(row, deps.config)
}

/** Inserts a domain. The caller has checked that no other project owns the domain. */
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

/** Lists a project's domains, or those of all projects; newest first. */
export async function listDomains(
  { store, config }: Pick<Base, 'store' | 'config'>,
  projectId?: string,
): Promise<DomainRecord[]> {
  const rows = await store.read
    .select()
    .from(domains)
    .where(projectId === undefined ? undefined : eq(domains.projectId, projectId))
    .orderBy(desc(domains.createdAt), desc(domains.id))
  return rows.map((row) => toDomainRecord(row, config))
}

/**
 * Loads a domain by its id or its name. If several projects have added the name, returns the domain that is verified.
 * With `isOnly`, or if none is verified, several domains of one name are an error. @throws AppError VALIDATION_ERROR,
 * RESOURCE_NOT_FOUND, CONFLICT (several projects have the name)
 */
export async function loadDomain(
  { store }: Pick<Base, 'store'>,
  lookup: DomainLookup,
  { isOnly = false }: { isOnly?: boolean } = {},
): Promise<Domain> {
  const conditions: SQL[] = [
    'id' in lookup ? eq(domains.id, lookup.id) : eq(domains.domain, readDomainName(lookup.domain)),
  ]
  if (lookup.projectId !== undefined) conditions.push(eq(domains.projectId, lookup.projectId))
  const found = await store.read
    .select()
    .from(domains)
    .where(and(...conditions))
    .limit(MAX_NAMED_DOMAINS)
  const [only, ...others] = found
  if (only === undefined) throw domainNotFound('id' in lookup ? lookup.id : lookup.domain)
  if (others.length === 0) return only
  const owner = found.find(({ isVerified }) => isVerified)
  if (owner !== undefined && !isOnly) return owner
  throw new AppError(
    'CONFLICT',
    'Several projects have added this domain. Give its id instead of its name.',
    {
      details: { ids: found.map(({ id }) => id) },
    },
  )
}

export function domainNotFound(idOrName: string): AppError {
  return notFound('domain', idOrName, 'There is no such domain.')
}

/**
 * Deletes a domain with its keys. Mail from the domain, including waiting mail, is no longer sent.
 * @throws AppError RESOURCE_NOT_FOUND, PROJECT_DISABLED, CONFLICT while templates or unfinished
 *   campaigns send from it (`details`: the first of them, and of the steps of workflows that send such
 *   templates)
 */
export async function deleteDomain(
  deps: Pick<Base, 'store' | 'directory' | 'duties'>,
  { projectId, id }: { projectId: string; id: string },
): Promise<void> {
  const { store, directory } = deps
  await store.write(async (tx) => {
    await requireEnabledProject(tx, projectId)
    const isGiven = and(eq(domains.id, id), eq(domains.projectId, projectId))
    const domain = await tx.select().from(domains).where(isGiven).get()
    if (domain === undefined) throw domainNotFound(id)
    await refuseWhileUsed(deps, tx, domain)
    await tx.delete(domains).where(isGiven)
    tx.afterCommit(directory.drop)
  })
}

/** Returns the A-label form. @throws AppError VALIDATION_ERROR */
function readDomainName(text: string): string {
  const domain = parseDomain(text)
  if (domain === undefined) throw invalidField('domain', 'invalid_string', 'Not a domain name')
  return domain
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

async function refuseWhileUsed(
  deps: Pick<Base, 'duties'>,
  tx: Tx,
  { projectId, domain }: Domain,
): Promise<void> {
  const references = await findReferences(deps, tx, {
    projectId,
    referent: { kind: 'sending domain', domain },
    limit: MAX_NAMED,
  })
  if (!isUsed(references)) return
  const { templates, campaigns, workflowSteps } = references
  const names = [...templates, ...campaigns].map(({ name }) => name).join(', ')
  const isCut = Math.max(templates.length, campaigns.length) === MAX_NAMED
  const more = isCut ? ', and perhaps others' : ''
  const text = `${kindsOf(references)} of this project send from this domain: ${names}${more}.`
  throw new AppError('CONFLICT', text, {
    details: { templates, campaigns, workflowSteps },
    suggestion: [
      ...(templates.length > 0 ? [FOR_TEMPLATES] : []),
      ...(workflowSteps.length > 0 ? [FOR_STEPS] : []),
      ...(campaigns.length > 0 ? [FOR_CAMPAIGNS] : []),
    ].join(' '),
  })
}

function kindsOf({ templates, campaigns }: References): string {
  if (campaigns.length === 0) return 'Templates'
  return templates.length === 0 ? 'Campaigns' : 'Templates and campaigns'
}
