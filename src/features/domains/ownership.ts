/**
 * Whose a domain is: of the one project that has it verified. Until then any number of projects may
 * claim it. A refusal never says whose it is.
 */
import { getDomain } from 'tldts'
import { AppError, notFound } from '../../errors.ts'
import { and, eq, ne, or, sql } from '../../store/drizzle.ts'
import { projects } from '../../store/schema/accounts.ts'
import { type Domain, domains } from '../../store/schema/domains.ts'
import type { Tx } from '../../store/write/transaction.ts'

/** A transaction, or the read connection. */
export type Queries = Pick<Tx, 'select'>

type Claim = Pick<Domain, 'projectId' | 'domain'>

/** @throws AppError RESOURCE_NOT_FOUND, PROJECT_DISABLED */
export async function requireEnabledProject(queries: Queries, projectId: string): Promise<void> {
  const project = await queries
    .select({ isDisabled: projects.isDisabled })
    .from(projects)
    .where(eq(projects.id, projectId))
    .get()
  if (project === undefined) {
    throw notFound('project', projectId, 'No project has this id.')
  }
  if (project.isDisabled) throw new AppError('PROJECT_DISABLED', 'This project is disabled.')
}

/** Whether another project has the domain verified. */
export async function isOwnedElsewhere(queries: Queries, claim: Claim): Promise<boolean> {
  const owner = await queries
    .select({ id: domains.id })
    .from(domains)
    .where(
      and(
        eq(domains.domain, claim.domain),
        eq(domains.isVerified, true),
        ne(domains.projectId, claim.projectId),
      ),
    )
    .get()
  return owner !== undefined
}

/** Whether a disabled project has verified the domain's root, or anything under the same root. */
export async function isUnderDisabledRoot(queries: Queries, domain: string): Promise<boolean> {
  const root = getDomain(domain, { allowPrivateDomains: true }) ?? domain
  const taken = await queries
    .select({ id: domains.id })
    .from(projects)
    .innerJoin(domains, eq(domains.projectId, projects.id))
    .where(
      and(
        eq(projects.isDisabled, true),
        eq(domains.isVerified, true),
        or(eq(domains.domain, root), sql`${domains.domain} like ${`%.${root}`}`),
      ),
    )
    .get()
  return taken !== undefined
}

export function ownedElsewhere(): AppError {
  return new AppError('FORBIDDEN', 'This domain is in use by another project of this server.', {
    suggestion: 'Remove it from the other project first, or ask the operator of this server.',
  })
}
