/** Reads jobs as `GET /jobs` shows them. */
import { formatInstant } from '../../../base/clock.ts'
import type { JobRecord } from '../../../records/job.ts'
import { MAX_JOB_LABEL_LENGTH } from '../../../records/limits.ts'
import { jsonValue, listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { Job } from '../../../store/schema/jobs.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { shownState } from '../../../work/jobs/status.ts'
import type { Base } from '../base.ts'
import { prefixOfJob } from '../enqueue-for-project.ts'
import { JOB_FACTS, type JobFacts, type ShownJob } from '../manifest/shown-job.ts'

export type JobDeps = Pick<Base, 'store' | 'now' | 'duties'>

type ShownColumn =
  | 'id'
  | 'kind'
  | 'state'
  | 'progress'
  | 'done'
  | 'total'
  | 'error'
  | 'userId'
  | 'runAt'
  | 'createdAt'
  | 'startedAt'
  | 'completedAt'
  | 'cancelledAt'

type ShownRow = Pick<Job, ShownColumn> & { address: string | null } & JobFacts

/** The payload of the kinds that have facts: the others may be large, and are not read. */
const payload = sql`case when kind in ${listOf(parameter('factKinds'))} then payload end`

export const selectShownJobs = statement<ShownRow>(
  () => sql`select id, kind, state, progress, done, total, error, user_id as "userId",
      run_at as "runAt", created_at as "createdAt", started_at as "startedAt",
      completed_at as "completedAt", cancelled_at as "cancelledAt",
      (select email from users where users.id = jobs.user_id) as address,
      ${sql.join(
        JOB_FACTS.map((fact) => sql`${jsonValue(payload, fact)} as ${sql.identifier(fact)}`),
        sql`, `,
      )}
    from jobs where id in ${listOf(parameter('ids'))}`,
)

/** Returns the jobs in the order of their ids; undefined for one that is gone. */
export async function readShownJobs(
  { store, now, duties }: JobDeps,
  projectId: string,
  ids: readonly string[],
): Promise<(JobRecord | undefined)[]> {
  const { shownJobs } = duties
  const factKinds = [...shownJobs].flatMap(([kind, { hasFacts }]) => (hasFacts ? [kind] : []))
  const wanted = { ids: JSON.stringify(ids), factKinds: JSON.stringify(factKinds) }
  const rows = await store.read.list(selectShownJobs, wanted)
  const at = now()
  const records = new Map<string, JobRecord>()
  for (const row of rows) {
    const shown = shownJobs.get(row.kind)
    if (shown !== undefined) records.set(row.id, toJobRecord(row, shown, { projectId, at }))
  }
  return ids.map((id) => records.get(id))
}

/** `at`: the current time. */
function toJobRecord(
  row: ShownRow,
  shown: ShownJob,
  { projectId, at }: { projectId: string; at: number },
): JobRecord {
  const { id, userId, address } = row
  const kind = prefixOfJob({ id, projectId }) ?? row.kind
  return {
    id,
    kind,
    label: shown.labelOf(row, kind).slice(0, MAX_JOB_LABEL_LENGTH),
    state: shownState(row, at),
    progress: row.progress,
    done: row.done,
    total: row.total,
    isCancelling: row.cancelledAt !== null && row.completedAt === null,
    createdAt: formatInstant(row.createdAt),
    startedAt: toInstant(row.startedAt),
    finishedAt: toInstant(row.completedAt),
    by: userId === null || address === null ? null : { userId, email: address },
    failedReason: row.error,
    statusUrl: shown.pathOf(id, row),
  }
}

function toInstant(at: number | null): string | null {
  return at === null ? null : formatInstant(at)
}
