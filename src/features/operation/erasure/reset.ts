/**
 * Resets a project: its data goes, it itself stays with its domains, members, keys, suppressions,
 * uploads and counters. From the answer to the end of the job the project is disabled, and the routes of
 * its data answer 409.
 */
import { AppError } from '../../../base/errors.ts'
import { and, eq, isNull } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import type { Base } from '../../ground/base.ts'
import { requireManager } from '../../tenancy/accounts/members/require-admin.ts'
import { endActivity } from './end-activity.ts'
import { enqueueErasure, RESET_KIND } from './kinds.ts'
import { refuseReset } from './mail-project.ts'

type Deps = Pick<Base, 'store' | 'config' | 'directory' | 'now' | 'jobNotifier'>

/**
 * `actorId`: the user who resets, if one does.
 * @throws AppError RESOURCE_NOT_FOUND; FORBIDDEN without the role; CONFLICT while it is being reset, and for
 *   the mail's project
 */
export async function resetProject(
  deps: Deps,
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
