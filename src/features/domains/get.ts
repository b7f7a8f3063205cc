/** Which domain is meant, by its id or its name. */
import { AppError, notFound } from '../../errors.ts'
import { and, eq, type SQL } from '../../store/drizzle.ts'
import { type Domain, domains } from '../../store/schema/domains.ts'
import type { Base } from '../base.ts'
import { readDomainName } from './add.ts'

/** Without a project, whichever has it (for operators). */
export type DomainLookup = { projectId?: string | undefined } & (
  | { id: string }
  | { domain: string }
)

/**
 * `isOnly`: a name has to be one project's alone; otherwise whoever has it verified goes before the
 * others.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND, CONFLICT (a name that several projects claim)
 */
export async function getDomain(
  { store }: Pick<Base, 'store'>,
  target: DomainLookup,
  { isOnly = false }: { isOnly?: boolean } = {},
): Promise<Domain> {
  const conditions: SQL[] = [
    'id' in target ? eq(domains.id, target.id) : eq(domains.domain, readDomainName(target.domain)),
  ]
  if (target.projectId !== undefined) conditions.push(eq(domains.projectId, target.projectId))
  const claims = await store.read
    .select()
    .from(domains)
    .where(and(...conditions))
    .limit(100)
  const [only, ...others] = claims
  if (only === undefined) throw domainNotFound('id' in target ? target.id : target.domain)
  if (others.length === 0) return only
  const owner = claims.find(({ isVerified }) => isVerified)
  if (owner !== undefined && !isOnly) return owner
  throw new AppError('CONFLICT', 'Several projects claim this domain: name its id.', {
    details: { ids: claims.map(({ id }) => id) },
  })
}

export function domainNotFound(idOrName: string): AppError {
  return notFound('domain', idOrName, 'There is no such domain.')
}
