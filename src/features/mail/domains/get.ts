/** Gets a domain by its id or its name. */
import { AppError, notFound } from '../../../base/errors.ts'
import { and, eq, type SQL } from '../../../store/drizzle.ts'
import { type Domain, domains } from '../../../store/schema/domains.ts'
import type { Base } from '../../ground/base.ts'
import { readDomainName } from './add.ts'

/** Without a project, the domain of any project (for operators). */
export type DomainLookup = { projectId?: string | undefined } & (
  | { id: string }
  | { domain: string }
)

/** Domains whose ids the error names. */
const MAX_NAMED_DOMAINS = 100

/**
 * If several projects have added the name, returns the domain that is verified. With `isOnly`, or
 * if none is verified, several domains of one name are an error.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND, CONFLICT (several projects have the name)
 */
export async function getDomain(
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
