/**
 * A domain belongs to the one project that has verified it. Until then, any number of projects may
 * add it. Errors never name the owner.
 */
import { getDomain } from 'tldts'
import { AppError } from '../../../base/errors.ts'
import { and, eq, isNotNull, isNull, ne, or, sql } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import { type Domain, domains } from '../../../store/schema/domains.ts'
import type { Queries } from '../../../store/write/transaction.ts'
import { projectDisabled, projectNotFound } from '../../ground/directory.ts'

type AddedDomain = Pick<Domain, 'projectId' | 'domain'>

/** @throws AppError RESOURCE_NOT_FOUND, PROJECT_DISABLED */
export async function requireEnabledProject(queries: Queries, projectId: string): Promise<void> {
  const project = await queries
    .select({ isDisabled: projects.isDisabled })
    .from(projects)
    .where(and(eq(projects.id, projectId), isNull(projects.deletedAt)))
    .get()
  if (project === undefined) throw projectNotFound(projectId)
  if (project.isDisabled) throw projectDisabled()
}

/** Whether another project has verified the domain. */
export async function isOwnedElsewhere(queries: Queries, added: AddedDomain): Promise<boolean> {
  const owner = await queries
    .select({ id: domains.id })
    .from(domains)
    .where(
      and(
        eq(domains.domain, added.domain),
        eq(domains.isVerified, true),
        ne(domains.projectId, added.projectId),
      ),
    )
    .get()
  return owner !== undefined
}

/**
 * Whether a disabled project has verified the organizational domain of a domain, or any domain
 * under it. A project that is disabled only because it is being reset does not count.
 */
export async function isUnderDisabledRoot(queries: Queries, domain: string): Promise<boolean> {
  const root = getDomain(domain, { allowPrivateDomains: true }) ?? domain
  const blocking = await queries
    .select({ id: domains.id })
    .from(projects)
    .innerJoin(domains, eq(domains.projectId, projects.id))
    .where(
      and(
        eq(projects.isDisabled, true),
        or(isNull(projects.resetSince), isNotNull(projects.disabledReason)),
        eq(domains.isVerified, true),
        or(eq(domains.domain, root), sql`${domains.domain} like ${`%.${root}`}`),
      ),
    )
    .get()
  return blocking !== undefined
}

export function domainOwnedElsewhere(): AppError {
  return new AppError('FORBIDDEN', 'This domain is in use by another project of this server.', {
    suggestion: 'Remove it from the other project first, or ask the operator of this server.',
  })
}
