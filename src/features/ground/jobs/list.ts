/**
 * The jobs that calls of the API have enqueued: first those that run, then those that wait, then those that
 * ended in the last 24 hours, the newest first. A project has few: at most 20 unfinished ones of a kind, and
 * the last 50 to 100 that ended. So the whole order is read from two indexes, and the rows of a page only
 * after that.
 */
import { DAY_MS } from '../../../base/clock.ts'
import { sealCursor, unsealCursor } from '../../../records/cursor.ts'
import type { JobRecord } from '../../../records/job.ts'
import { indexedBy, listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../base.ts'
import type { CountedEnd } from '../list-totals.ts'
import { type Listing, pageListing, withEnd } from '../listing.ts'
import { type JobDeps, readShownJobs } from './shown-row.ts'

type JobsWanted = { projectId: string; limit: number; cursor: string | undefined }

/** `rank`: 0 for jobs that run, 1 for those that wait, 2 for those that have ended. */
type JobLine = { id: string; rank: number; at: number }

const SHOWN_MS = DAY_MS

/** Jobs with a unique key are the server's own, such as those of a schedule. */
const isShown = sql`unique_key is null and kind in ${listOf(parameter('kinds'))}`

export const listUnfinishedJobs = statement<JobLine>(
  () => sql`select id, case state when 'active' then 0 else 1 end as rank, created_at as at
    from jobs ${indexedBy('jobs_unfinished')}
    where ${isShown} and state in ('waiting', 'active') and project_id = ${parameter('projectId')}`,
)

export const listEndedJobs = statement<JobLine>(
  () => sql`select id, 2 as rank, completed_at as at
    from jobs ${indexedBy('jobs_kept')}
    where ${isShown} and state in ('completed', 'failed', 'cancelled')
      and project_id = ${parameter('projectId')} and project_id is not null
      and completed_at is not null and completed_at > ${parameter('after')}`,
)

/** @throws AppError VALIDATION_ERROR for an invalid cursor */
export async function listJobs(
  deps: JobDeps & Pick<Base, 'keyring'>,
  { projectId, limit, cursor }: JobsWanted,
): Promise<Listing<JobRecord, CountedEnd>> {
  const { store, now, duties } = deps
  const kinds = JSON.stringify([...duties.shownJobs.keys()])
  const wanted = { projectId, kinds, after: now() - SHOWN_MS }
  const [unfinished, ended] = await Promise.all([
    store.read.list(listUnfinishedJobs, wanted),
    store.read.list(listEndedJobs, wanted),
  ])
  const all = [...unfinished, ...ended].sort(byPlace)
  const place = cursor === undefined ? undefined : readPlace(deps, cursor)
  const rest = place === undefined ? all : all.filter((line) => byPlace(line, place) > 0)
  const lines = rest.slice(0, limit)
  const last = rest.length > limit ? lines.at(-1) : undefined
  const cursorOf = ({ rank, at, id }: JobLine) => sealCursor(deps, 'jobs', [rank, at, id])
  const page = pageListing({
    lines,
    read: (slice) =>
      readShownJobs(
        deps,
        projectId,
        slice.map(({ id }) => id),
      ),
    cursorOf,
    endCursor: last === undefined ? null : cursorOf(last),
  })
  return withEnd(page, (end) => ({ ...end, total: cursor === undefined ? all.length : 0 }))
}

function readPlace(deps: Pick<Base, 'keyring'>, cursor: string): JobLine {
  const [rank, at, id] = unsealCursor(deps, 'jobs', cursor) as [number, number, string]
  return { rank, at, id }
}

function byPlace(one: JobLine, other: JobLine): number {
  const byId = one.id < other.id ? 1 : one.id > other.id ? -1 : 0
  return one.rank - other.rank || other.at - one.at || byId
}
