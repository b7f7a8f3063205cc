/**
 * Resets a project: its data goes, it itself stays with its domains, members, keys, suppressions,
 * uploads and counters. From the answer to the end of the job the project is disabled, and the routes of
 * its data answer 409.
 */
import { AppError } from '../../errors.ts'
import { and, eq, isNull } from '../../store/drizzle.ts'
import { projects } from '../../store/schema/accounts.ts'
import type { Base } from '../base.ts'
import { projectNotFound } from '../directory.ts'
import { endActivity } from './end-activity.ts'
import { enqueueErasure, RESET_KIND } from './kinds.ts'
import { refuseReset } from './mail-project.ts'

type Deps = Pick<Base, 'store' | 'config' | 'directory' | 'now' | 'jobNotifier'>

/** @throws AppError RESOURCE_NOT_FOUND; CONFLICT while it is being reset, and for the mail's project */
export async function resetProject(deps: Deps, projectId: string): Promise<void> {
  refuseReset(deps, projectId)
  await deps.store.write(async (tx) => {
    const at = deps.now()
    const isThis = and(eq(projects.id, projectId), isNull(projects.deletedAt))
    const project = await tx.select().from(projects).where(isThis).get()
    if (project === undefined) throw projectNotFound(projectId)
    if (project.resetSince !== null) throw isUnderWay()
    await tx
      .update(projects)
      .set({ isDisabled: true, resetSince: at, updatedAt: at })
      .where(eq(projects.id, projectId))
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
