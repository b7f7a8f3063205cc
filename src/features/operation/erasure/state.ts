/** How far the reset of a project has come. */
import { formatInstant } from '../../../base/clock.ts'
import { and, eq } from '../../../store/drizzle.ts'
import { jobs } from '../../../store/schema/jobs.ts'
import { isUnfinished } from '../../../work/jobs/due.ts'
import type { Base } from '../../ground/base.ts'
import type { Project } from '../../tenancy/accounts/rows.ts'
import { RESET_KIND } from './kinds.ts'

export type ResetState = {
  /** `idle`: the project was never reset. `done`: the last reset is done. */
  state: 'idle' | 'running' | 'done'
  startedAt: string | null
  /** From 0 to 100. */
  progress: number
  completedAt: string | null
}

export async function findResetState(
  { store }: Pick<Base, 'store'>,
  { id, resetSince, lastResetSince, lastResetAt }: Project,
): Promise<ResetState> {
  if (resetSince !== null) {
    const job = await store.read
      .select({ progress: jobs.progress })
      .from(jobs)
      .where(and(eq(jobs.kind, RESET_KIND), eq(jobs.projectId, id), isUnfinished))
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
