import { AppError, notFound } from '../../base/errors.ts'
import { and, eq, sql } from '../../store/drizzle.ts'
import { projects } from '../../store/schema/accounts.ts'
import { jobs } from '../../store/schema/jobs.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Tx } from '../../store/write/transaction.ts'
import { isUnfinishedJob } from '../../work/jobs/due.ts'
import { enqueueJob, type NewJob } from '../../work/jobs/enqueue.ts'

type ProjectJob = Omit<NewJob, 'id' | 'uniqueKey' | 'projectId'> & {
  /** The first part of the job's id: `import`, `bulk-delete`. */
  prefix: string
  projectId: string
}

/** The maximum number of unfinished jobs of one kind in a project. */
export const MAX_UNFINISHED = 20

export const countUnfinished = statement((db) =>
  db
    .select({ unfinished: sql<number>`count(*)` })
    .from(jobs)
    .where(
      and(
        eq(jobs.kind, parameter('kind')),
        eq(jobs.projectId, parameter('projectId')),
        isUnfinishedJob,
      ),
    ),
)

const findProject = statement((db) =>
  db
    .select({ resetSince: projects.resetSince, deletedAt: projects.deletedAt })
    .from(projects)
    .where(eq(projects.id, parameter('projectId'))),
)

/**
 * Enqueues a job with the id that the API shows, `<prefix>-<projectId>-<epoch ms>`. If the id is
 * taken, the job gets the next free millisecond.
 * @throws AppError CONFLICT when the project has too many unfinished jobs of the kind, or is being reset;
 *   RESOURCE_NOT_FOUND when it has been deleted, which may happen during a long request
 */
export async function enqueueForProject(tx: Tx, { prefix, ...job }: ProjectJob): Promise<string> {
  await refuseErased(tx, job.projectId)
  await refuseTooMany(tx, job)
  for (let at = job.now; ; at += 1) {
    const made = await enqueueJob(tx, { ...job, id: `${prefix}-${job.projectId}-${at}` })
    if (made.isNew) return made.id
  }
}

/**
 * The first part of an id that `enqueueForProject` has made; undefined for other ids.
 */
export function prefixOfJob({ id, projectId }: { id: string; projectId: string }) {
  const end = id.indexOf(`-${projectId}-`)
  return end === -1 ? undefined : id.slice(0, end)
}

async function refuseErased(tx: Tx, projectId: string): Promise<void> {
  const project = await tx.find(findProject, { projectId })
  if (project === undefined || project.deletedAt !== null) {
    throw notFound('project', projectId, 'The project has been deleted.')
  }
  if (project.resetSince === null) return
  throw new AppError('CONFLICT', 'The project is being reset.', {
    suggestion: 'Nothing was queued. Try again when the reset is done.',
  })
}

async function refuseTooMany(
  tx: Tx,
  { kind, projectId }: Pick<ProjectJob, 'kind' | 'projectId'>,
): Promise<void> {
  const found = await tx.find(countUnfinished, { kind, projectId })
  if (found === undefined || found.unfinished < MAX_UNFINISHED) return
  const text = `The project has ${MAX_UNFINISHED} unfinished jobs of the kind "${kind}", which is the limit.`
  throw new AppError('CONFLICT', text, {
    suggestion: 'Nothing was queued. Wait until one of them has ended, then try again.',
    details: { kind, limit: MAX_UNFINISHED },
  })
}
