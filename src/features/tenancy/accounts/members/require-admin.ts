/**
 * Checks a role in the transaction that needs the role, because the role may have ended after the
 * request was admitted.
 */
import { AppError, notFound } from '../../../../base/errors.ts'
import { and, eq, isNull } from '../../../../store/drizzle.ts'
import { memberships, projects } from '../../../../store/schema/accounts.ts'
import type { Role } from '../../../../store/schema/words.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { projectNotFound } from '../../../ground/directory.ts'
import { hasRole } from '../callers/caller.ts'

/**
 * Requires the right to change members: the role of an admin, or, for whoever can run commands
 * (`actorId` is absent), only a project that is there.
 * @throws AppError RESOURCE_NOT_FOUND, FORBIDDEN
 */
export async function requireManager(
  tx: Pick<Tx, 'select'>,
  { projectId, actorId }: { projectId: string; actorId?: string | undefined },
): Promise<void> {
  if (actorId === undefined) await requireProject(tx, projectId)
  else await requireAdmin(tx, { projectId, userId: actorId })
}

async function requireProject(tx: Pick<Tx, 'select'>, id: string): Promise<void> {
  const project = await tx
    .select({ id: projects.id })
    .from(projects)
    .where(and(eq(projects.id, id), isNull(projects.deletedAt)))
    .get()
  if (project === undefined) throw projectNotFound(id)
}

/** A user who acts in a project. */
export type Actor = { projectId: string; userId: string }

/**
 * Returns the role of the user.
 * @throws AppError RESOURCE_NOT_FOUND when the user is no member, FORBIDDEN when the role is MEMBER
 */
export async function requireAdmin(
  tx: Pick<Tx, 'select'>,
  { projectId, userId }: Actor,
): Promise<Role> {
  const membership = await tx
    .select({ role: memberships.role })
    .from(memberships)
    .innerJoin(projects, and(eq(projects.id, memberships.projectId), isNull(projects.deletedAt)))
    .where(and(eq(memberships.userId, userId), eq(memberships.projectId, projectId)))
    .get()
  if (membership === undefined) throw noProject(projectId)
  if (!hasRole(membership.role, 'ADMIN')) throw roleTooLow()
  return membership.role
}

export function roleTooLow(): AppError {
  return new AppError('FORBIDDEN', 'This needs the role ADMIN or OWNER in the project.', {
    suggestion: 'Ask an owner or admin of the project.',
  })
}

/** The error for a missing project. */
export function noProject(id: string | undefined): AppError {
  return notFound('project', id ?? '', 'You have no project with this id.')
}
