/**
 * Begins the deletion or the reset of a project, and shows how far a reset has come; jobs do the
 * rest. When the call returns, nothing shows a deleted project any more, its keys are dead and its
 * domains are free; a job erases its rows, another one cancels its subscription. A reset project
 * keeps its domains, members, keys, suppressions, uploads and counters; it is disabled from the
 * answer to the end of the job, and the routes of its data answer 409.
 *
 * The project that sends the server's own mail to users is neither deleted nor reset.
 */
import { formatInstant } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import type { ResetState } from '../../../records/project-reset.ts'
import { unindexed } from '../../../store/dialect.ts'
import { and, eq, isNotNull, isNull, or, sql } from '../../../store/drizzle.ts'
import { invitations, memberships, projects } from '../../../store/schema/accounts.ts'
import { domains } from '../../../store/schema/domains.ts'
import { jobs } from '../../../store/schema/jobs.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { isUnfinishedJob } from '../../../work/jobs/due.ts'
import type { Base } from '../../ground/base.ts'
import { keepUseOfDeleted } from '../../ground/usage/month.ts'
import { requireManager } from '../../tenancy/accounts/members/require-admin.ts'
import { findMailProjectId } from '../../tenancy/accounts/platform-mail/sender.ts'
import type { Project } from '../../tenancy/accounts/rows.ts'
import { enqueueCancellation } from '../../tenancy/billing/cancel.ts'
import { DELETION_KIND, enqueueErasure, RESET_KIND } from './kinds.ts'

type EndDeps = Pick<Base, 'store' | 'config' | 'directory' | 'now' | 'jobNotifier'>

/**
 * Deletes a project; a reset that is under way ends. `actorId`: the user who deletes, unless an
 * operator does at the command line. `force`: also the project that sends the server's mail, as an
 * operator may.
 *
 * @throws AppError RESOURCE_NOT_FOUND; FORBIDDEN without the role; CONFLICT for the project that
 *   sends the server's mail
 */
export async function deleteProject(
  deps: EndDeps,
  projectId: string,
  { actorId, force = false }: { actorId?: string; force?: boolean } = {},
): Promise<void> {
  if (!force) await refuseDeletion(deps, projectId)
  await deps.store.write(async (tx) => {
    const at = deps.now()
    await requireManager(tx, { projectId, actorId })
    await hide(tx, { projectId, at })
    await keepUseOfDeleted(tx, { projectId, at })
    await tx.delete(memberships).where(eq(memberships.projectId, projectId))
    await tx.delete(invitations).where(eq(invitations.projectId, projectId))
    await tx.delete(domains).where(eq(domains.projectId, projectId))
    await endActivity(tx, { projectId, at })
    await endSubscription(deps, tx, projectId)
    await enqueueErasure(deps, tx, { kind: DELETION_KIND, projectId })
    tx.afterCommit(deps.directory.drop)
  })
}

/** Enqueues the job that cancels the subscription once the project's mail is charged. */
async function endSubscription(deps: EndDeps, tx: Tx, projectId: string): Promise<void> {
  const project = await tx
    .select({ subscription: projects.subscription })
    .from(projects)
    .where(eq(projects.id, projectId))
    .get()
  const subscription = project?.subscription ?? null
  if (subscription === null) return
  await enqueueCancellation(deps, tx, { projectId, subscription, billsUse: true })
}

/**
 * Empties the row of the project and marks it as deleted. No key of a request equals the values
 * that replace its keys.
 */
async function hide(tx: Tx, { projectId, at }: { projectId: string; at: number }): Promise<void> {
  const dead = `deleted ${projectId}`
  await tx
    .update(projects)
    .set({
      ...{ name: '', publicKey: dead, secretDigest: dead, secretHint: '', areKeysSandbox: false },
      ...{ isDisabled: true, disabledReason: null, resetSince: null },
      ...{ deletedAt: at, updatedAt: at },
    })
    .where(eq(projects.id, projectId))
}

/**
 * Resets a project. `actorId`: the user who resets, if one does.
 *
 * @throws AppError RESOURCE_NOT_FOUND; FORBIDDEN without the role; CONFLICT during a reset, and for
 *   the project that sends the server's mail
 */
export async function resetProject(
  deps: EndDeps,
  projectId: string,
  { actorId }: { actorId?: string } = {},
): Promise<void> {
  refuseReset(deps, projectId)
  await deps.store.write(async (tx) => {
    const at = deps.now()
    await requireManager(tx, { projectId, actorId })
    const begun = await tx
      .update(projects)
      .set({ isDisabled: true, resetSince: at, updatedAt: at })
      .where(and(eq(projects.id, projectId), isNull(projects.resetSince)))
      .returning({ id: projects.id })
    if (begun.length === 0) throw isUnderWay()
    await endActivity(tx, { projectId, at })
    await enqueueErasure(deps, tx, { kind: RESET_KIND, projectId })
    tx.afterCommit(deps.directory.drop)
  })
}

function isUnderWay(): AppError {
  return new AppError('CONFLICT', 'The project is being reset.', {
    suggestion: 'GET /users/@me/projects/:id/reset shows when it is done.',
  })
}

/** Refuses to delete the project that sends the server's mail. @throws AppError CONFLICT */
async function refuseDeletion(deps: EndDeps, projectId: string): Promise<void> {
  if (projectId === (await findMailProjectId(deps, deps.store.read))) throw sendsMail('deleted')
}

/**
 * Refuses to reset the project of `accounts.mail_project`. The sandbox's project may be reset,
 * because its domain stays and its mail goes nowhere.
 * @throws AppError CONFLICT
 */
function refuseReset({ config }: Pick<EndDeps, 'config'>, projectId: string): void {
  if (config.accounts.mailProject === projectId) throw sendsMail('reset')
}

function sendsMail(done: 'deleted' | 'reset'): AppError {
  return new AppError('CONFLICT', `This project sends the server's mail to users.`, {
    suggestion: `Name another project in accounts.mail_project before this one is ${done}.`,
  })
}

/**
 * Enqueues again the jobs of resets and deletions that failed for good, because the project must
 * not stay closed.
 */
export async function resumeErasures(
  deps: Pick<Base, 'store' | 'now' | 'jobNotifier'>,
): Promise<void> {
  const unfinished = await deps.store.read
    .select({ id: projects.id, deletedAt: projects.deletedAt })
    .from(projects)
    .where(or(isNotNull(projects.resetSince), isNotNull(projects.deletedAt)))
  for (const { id: projectId, deletedAt } of unfinished) {
    const kind = deletedAt === null ? RESET_KIND : DELETION_KIND
    await deps.store.write((tx) => enqueueErasure(deps, tx, { kind, projectId }))
  }
}

const isOwn = sql`project_id = ${parameter('projectId')}`
const AT = parameter('at')

const endJobs = statement(
  () => sql`update jobs set state = 'failed', error = 'The data of the project was deleted.',
      lease_id = null, lease_until = null, completed_at = ${AT}, updated_at = ${AT}
    where ${isOwn} and state in ('waiting', 'active')`,
)

const endWorkflows = statement(
  () => sql`update workflows set enabled = 0, next_fire_at = null, is_cancelling = 0, deleted_at = ${AT}
    where ${isOwn} and deleted_at is null`,
)

const endEndpoints = statement(
  () => sql`update webhook_endpoints set enabled = 0, deleted_at = ${AT}
    where ${isOwn} and deleted_at is null`,
)

/**
 * Campaigns are found by their states, because a project may have many campaigns with large bodies.
 */
const endCampaigns = statement(
  () => sql`update campaigns set status = 'DRAFT', scheduled_for = null, paused_at = null
    where ${unindexed(sql`project_id`)} = ${parameter('projectId')}
      and status in ('SCHEDULED', 'SENDING')`,
)

const endMembershipEvents = statement(
  () => sql`update segments set track_membership = 0 where ${isOwn} and track_membership = 1`,
)

const ENDS = [endJobs, endWorkflows, endEndpoints, endCampaigns, endMembershipEvents]

/**
 * Ends the work on a project's rows, in the transaction that begins the erasure. The disabled
 * project sends no mail; the statements stop the rest: nothing reads a workflow or an endpoint
 * that is marked as deleted, and nothing sends a draft. A running job loses its lease, so it
 * cannot commit another batch (`work/jobs/progress.ts`).
 */
async function endActivity(tx: Tx, project: { projectId: string; at: number }): Promise<void> {
  for (const end of ENDS) await tx.execute(end, project)
}

/** Finds how far the reset of a project has come. */
export async function findResetState(
  { store }: Pick<Base, 'store'>,
  { id, resetSince, lastResetSince, lastResetAt }: Project,
): Promise<ResetState> {
  if (resetSince !== null) {
    const job = await store.read
      .select({ progress: jobs.progress })
      .from(jobs)
      .where(and(eq(jobs.kind, RESET_KIND), eq(jobs.projectId, id), isUnfinishedJob))
      .get()
    const progress = job?.progress ?? 0
    return { state: 'running', startedAt: formatInstant(resetSince), progress, completedAt: null }
  }
  if (lastResetSince === null || lastResetAt === null) {
    return { state: 'idle', startedAt: null, progress: 0, completedAt: null }
  }
  return {
    state: 'done',
    startedAt: formatInstant(lastResetSince),
    progress: 100,
    completedAt: formatInstant(lastResetAt),
  }
}
