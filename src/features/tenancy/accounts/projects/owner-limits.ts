/**
 * How many projects a user may own (`accounts.max_projects_per_user`) and create in an hour: a
 * project costs nothing, so without these limits a user could exceed every limit of a project with
 * more projects. Operators, and whoever can run commands, are exempt. A user who owns more projects
 * already keeps them.
 */
import type { Now } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import { and, eq, isNull } from '../../../../store/drizzle.ts'
import { memberships, projects } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { createHourlyLimit, type HourlyLimit } from '../../../../work/limiter.ts'
import type { Base } from '../../../ground/base.ts'

const PROJECTS_PER_HOUR = 5

/** The limit by user. Projects that were deleted again count, too. */
export function createProjectLimit(now: Now): HourlyLimit {
  const publicText = `A user can create ${PROJECTS_PER_HOUR} projects an hour.`
  return createHourlyLimit({ limit: PROJECTS_PER_HOUR, now, publicText })
}

/** @throws AppError BAD_REQUEST with `details` {limit, owned} */
export async function refuseTooManyProjects(
  { config }: Pick<Base, 'config'>,
  tx: Pick<Tx, 'select'>,
  userId: string,
): Promise<void> {
  const limit = config.accounts.maxProjectsPerUser
  if (limit === 0) return
  const owned = await tx
    .select({ id: projects.id })
    .from(memberships)
    .innerJoin(projects, and(eq(projects.id, memberships.projectId), isNull(projects.deletedAt)))
    .where(and(eq(memberships.userId, userId), eq(memberships.role, 'OWNER')))
  if (owned.length < limit) return
  const text = `You own ${owned.length} projects; on this server a user may own ${limit} (accounts.max_projects_per_user).`
  throw new AppError('BAD_REQUEST', text, {
    details: { limit, owned: owned.length },
    suggestion: 'Delete a project that is no longer used, or ask the operator of this server.',
  })
}
