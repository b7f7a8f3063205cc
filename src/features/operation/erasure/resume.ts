/**
 * Enqueues the jobs of resets and deletions again that have none, because their job failed for good: a
 * project must not stay closed.
 */
import { isNotNull, or } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import type { Base } from '../../ground/base.ts'
import { DELETION_KIND, enqueueErasure, RESET_KIND } from './kinds.ts'

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
