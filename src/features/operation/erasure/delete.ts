/**
 * Deletes a project. When the call returns, nothing shows it any more, its keys are dead and its domains
 * are free; a job erases its rows, another one cancels its subscription. A reset that is under way ends.
 */
import { eq } from '../../../store/drizzle.ts'
import { invitations, memberships, projects } from '../../../store/schema/accounts.ts'
import { domains } from '../../../store/schema/domains.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { keepUseOfDeleted } from '../../ground/usage/month.ts'
import { requireManager } from '../../tenancy/accounts/members/require-admin.ts'
import { enqueueCancellation } from '../../tenancy/billing/cancel.ts'
import { endActivity } from './end-activity.ts'
import { DELETION_KIND, enqueueErasure } from './kinds.ts'
import { refuseDeletion } from './mail-project.ts'

type Deps = Pick<Base, 'store' | 'config' | 'directory' | 'now' | 'jobNotifier'>

/**
 * `actorId`: the user who deletes, unless it is an operator at the command line. `force`: also the project
 * that sends the server's mail, as an operator may.
 * @throws AppError RESOURCE_NOT_FOUND; FORBIDDEN without the role; CONFLICT for the project that sends the
 *   server's mail
 */
export async function deleteProject(
  deps: Deps,
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

/** Its mail is charged first. */
async function endSubscription(deps: Deps, tx: Tx, projectId: string): Promise<void> {
  const project = await tx
    .select({ subscription: projects.subscription })
    .from(projects)
    .where(eq(projects.id, projectId))
    .get()
  const subscription = project?.subscription ?? null
  if (subscription === null) return
  await enqueueCancellation(deps, tx, { projectId, subscription, billsUse: true })
}

/** No key has the values that replace the project's own. */
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
