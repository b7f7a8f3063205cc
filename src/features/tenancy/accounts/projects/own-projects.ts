/** The projects of a user who has logged in: listing them and creating one. */
import { AppError } from '../../../../base/errors.ts'
import type { ProjectRecord } from '../../../../records/project.ts'
import { and, desc, eq, isNull } from '../../../../store/drizzle.ts'
import { memberships, projects } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { HourlyLimit } from '../../../../work/limiter.ts'
import type { Base } from '../../../ground/base.ts'
import type { SessionUser } from '../callers/caller.ts'
import { requireUnbound } from '../users/proof.ts'
import { requireUser } from '../users/require-user.ts'
import { makeKeys } from './keys.ts'
import { readProjectName } from './name.ts'
import { refuseTooManyProjects } from './owner-limits.ts'
import { insertProject } from './projects.ts'
import { toProjectRecord } from './record.ts'

/** `limit`: of the projects that a user creates in an hour. */
type CreateDeps = Pick<Base, 'store' | 'config' | 'now'> & { limit: HourlyLimit }

/** Newest first. */
export async function listOwnProjects(
  { store }: Pick<Base, 'store'>,
  userId: string,
): Promise<ProjectRecord[]> {
  const rows = await store.read
    .select({ project: projects, role: memberships.role })
    .from(memberships)
    .innerJoin(projects, and(eq(projects.id, memberships.projectId), isNull(projects.deletedAt)))
    .where(eq(memberships.userId, userId))
    .orderBy(desc(projects.createdAt), desc(projects.id))
  return rows.map(({ project, role }) => toProjectRecord(project, role))
}

/** The newest projects of a user, at most `limit`. */
export async function listOwnNames(
  { store }: Pick<Base, 'store'>,
  userId: string,
  limit: number,
): Promise<{ id: string; name: string }[]> {
  return store.read
    .select({ id: projects.id, name: projects.name })
    .from(memberships)
    .innerJoin(projects, and(eq(projects.id, memberships.projectId), isNull(projects.deletedAt)))
    .where(eq(memberships.userId, userId))
    .orderBy(desc(projects.createdAt), desc(projects.id))
    .limit(limit)
}

/**
 * The record shows the secret key, which nothing shows again.
 * @throws AppError VALIDATION_ERROR (name), PROJECT_DISABLED, UNAUTHORIZED when the user is gone,
 *   EMAIL_VERIFICATION_REQUIRED when the user is bound to a project, BAD_REQUEST and RATE_LIMIT_EXCEEDED for
 *   too many projects
 */
export async function createOwnProject(
  deps: CreateDeps,
  { user, name: given }: { user: Pick<SessionUser, 'id' | 'isOperator'>; name: string },
): Promise<ProjectRecord> {
  const name = readProjectName(given)
  if (user.isOperator) return insertOwnProject(deps, user, name)
  const attempt = deps.limit.enter(user.id)
  try {
    const project = await insertOwnProject(deps, user, name)
    attempt.counted()
    return project
  } catch (error) {
    attempt.abandoned()
    throw error
  }
}

async function insertOwnProject(
  { store, config, now }: CreateDeps,
  { id: userId, isOperator }: Pick<SessionUser, 'id' | 'isOperator'>,
  name: string,
): Promise<ProjectRecord> {
  const keys = makeKeys()
  const at = now()
  const project = await store.write(async (tx) => {
    await requireUser(tx, userId)
    await requireUnbound(tx, { userId, projectId: null })
    await refuseOwnerOfDisabled(tx, userId)
    if (!isOperator) await refuseTooManyProjects({ config }, tx, userId)
    const id = await insertProject(tx, { name, ownerId: userId, keys, areKeysSandbox: false, at })
    return tx.select().from(projects).where(eq(projects.id, id)).get()
  })
  if (project === undefined) throw new TypeError('the new project is not there')
  return { ...toProjectRecord(project, 'OWNER'), secret: keys.secretKey }
}

/**
 * Nobody goes on in a new project after the old one was disabled. A project that is being reset is not
 * disabled in this sense.
 */
async function refuseOwnerOfDisabled(tx: Tx, userId: string): Promise<void> {
  const disabled = await tx
    .select({ id: projects.id })
    .from(memberships)
    .innerJoin(projects, eq(projects.id, memberships.projectId))
    .where(
      and(
        eq(memberships.userId, userId),
        eq(memberships.role, 'OWNER'),
        eq(projects.isDisabled, true),
        isNull(projects.resetSince),
        isNull(projects.deletedAt),
      ),
    )
    .limit(1)
  if (disabled.length === 0) return
  throw new AppError('PROJECT_DISABLED', 'You own a project that is disabled.')
}
