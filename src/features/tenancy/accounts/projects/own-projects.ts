/**
 * The projects of a user who has logged in: listing and creating them, and changing their settings and keys as
 * owner or admin.
 *
 * The number of projects that a user owns (`accounts.max_projects_per_user`) and creates in an hour
 * is limited. A project costs nothing, so a user with enough projects could otherwise exceed every
 * limit of a project. Operators, and whoever can run commands, are exempt. A user who owns more
 * projects already keeps them.
 */
import { formatInstant, formatOptionalInstant, type Now } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import type { ProjectRecord, ProjectWithNewKeys } from '../../../../records/project.ts'
import { and, desc, eq, isNull } from '../../../../store/drizzle.ts'
import { memberships, type Project, projects } from '../../../../store/schema/accounts.ts'
import type { Role } from '../../../../store/schema/words.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { createHourlyLimit, type HourlyLimit } from '../../../../work/limiter.ts'
import type { Base } from '../../../ground/base.ts'
import { requireUser } from '../callers/admit.ts'
import type { SessionUser } from '../callers/caller.ts'
import { type Actor, noProject, requireAdmin } from '../members/require-admin.ts'
import { requireUnbound } from '../users/proof.ts'
import { makeKeys, maskSecret } from './keys.ts'
import { readProjectName } from './name.ts'
import { insertProject, type ProjectSettings, readSettings, replaceKeys } from './projects.ts'

/** `limit`: the limit on projects that a user creates in an hour. */
type CreateDeps = Pick<Base, 'store' | 'config' | 'now'> & { limit: HourlyLimit }

type ChangeDeps = Pick<Base, 'store' | 'directory' | 'now'>

const PROJECTS_PER_HOUR = 5

/** Lists all projects of a user, newest first. */
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

/**
 * Creates a project. Only the returned record shows its secret key; nothing shows this key again.
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

/**
 * Changes the settings of a project.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND, FORBIDDEN
 */
export async function changeSettings(
  { store, directory, now }: ChangeDeps,
  actor: Actor,
  settings: ProjectSettings,
): Promise<ProjectRecord> {
  const { projectId } = actor
  const change = { ...readSettings(settings), updatedAt: now() }
  return store.write(async (tx) => {
    const role = await requireAdmin(tx, actor)
    tx.afterCommit(directory.drop)
    const [row] = await tx
      .update(projects)
      .set(change)
      .where(eq(projects.id, projectId))
      .returning()
    if (row === undefined) throw noProject(projectId)
    return toProjectRecord(row, role)
  })
}

/**
 * Replaces both keys of a project. The old keys stop working at once.
 * @throws AppError RESOURCE_NOT_FOUND, FORBIDDEN
 */
export async function regenerateOwnKeys(
  { store, directory, now }: ChangeDeps,
  actor: Actor,
): Promise<ProjectWithNewKeys> {
  const keys = makeKeys()
  const at = now()
  const project = await store.write(async (tx) => {
    await requireAdmin(tx, actor)
    tx.afterCommit(directory.drop)
    return replaceKeys(tx, actor.projectId, { keys, at })
  })
  if (project === undefined) throw noProject(actor.projectId)
  return {
    id: project.id,
    name: project.name,
    public: keys.publicKey,
    secret: keys.secretKey,
    createdAt: formatInstant(project.createdAt),
    updatedAt: formatInstant(project.updatedAt),
    disabled: project.isDisabled,
    customer: project.customer,
    subscription: project.subscription,
  }
}

/**
 * The limit on projects that a user creates in an hour. Projects that were deleted again count,
 * too.
 */
export function createProjectLimit(now: Now): HourlyLimit {
  const publicText = `A user can create ${PROJECTS_PER_HOUR} projects an hour.`
  return createHourlyLimit({ limit: PROJECTS_PER_HOUR, now, publicText })
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
 * Refuses an owner of a disabled project, who must not go on in a new one. A project that is being
 * reset does not count as disabled here.
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

/** Makes the record of a project for its members. */
function toProjectRecord(project: Project, role: Role): ProjectRecord {
  return {
    id: project.id,
    name: project.name,
    public: project.publicKey,
    secret: maskSecret(project.secretHint),
    publicLastUsedAt: formatOptionalInstant(project.publicLastUsedAt),
    secretLastUsedAt: formatOptionalInstant(project.secretLastUsedAt),
    disabled: project.isDisabled,
    disabledReason: project.disabledReason,
    customer: project.customer,
    subscription: project.subscription,
    billingLimitWorkflows: project.limitWorkflows,
    billingLimitCampaigns: project.limitCampaigns,
    billingLimitTransactional: project.limitTransactional,
    billingLimitInbound: project.limitInbound,
    tracking: project.tracking,
    language: project.language,
    postalAddress: project.postalAddress,
    submissionTemplates: project.submissionTemplates,
    onTemplateFault: project.onTemplateFault,
    publicKeyMayUpdate: project.publicKeyMayUpdate,
    role,
    createdAt: formatInstant(project.createdAt),
    updatedAt: formatInstant(project.updatedAt),
  }
}

/**
 * Refuses a user who owns too many projects.
 * @throws AppError BAD_REQUEST with `details` {limit, owned}
 */
async function refuseTooManyProjects(
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
