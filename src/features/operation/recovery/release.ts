/**
 * Lifts the fence of a project, or all fences: in one transaction the fence is gone and what it held may
 * act. Mail that was put aside is made due behind it by the running server, or by the next one
 * (`messages/disabled/settle.ts`, `campaigns/settle-stopped.ts`).
 */
import { larger, listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { projectNotFound } from '../../ground/directory.ts'
import { FENCED_UNTIL, listFences, SERVER } from '../../ground/fence/rows.ts'
import type { QueueNotifier } from '../../mail/messages/queue/notifier.ts'
import { resumeRestoredCampaigns } from '../../outreach/campaigns/stopping.ts'
import { findFencedFirings, releaseSchedules } from '../../outreach/workflows/schedule/loop.ts'
import { countFenced, type FencedCounts, NOTHING_FENCED } from './count-fenced.ts'

type Deps = Pick<
  Base,
  'store' | 'directory' | 'campaignNotifier' | 'jobNotifier' | 'now' | 'log'
> & {
  queueNotifier: QueueNotifier
}

const AT = parameter('at')
const OF_PROJECTS = sql`in ${listOf(parameter('projectIds'))}`
const IS_ALL = sql`${SERVER} in ${listOf(parameter('projectIds'))}`

const releaseJobs = statement(
  () => sql`update jobs set run_at = ${AT}, updated_at = ${AT}
    where state in ('waiting', 'active') and run_at = ${FENCED_UNTIL}
      and coalesce(project_id, '') ${OF_PROJECTS}`,
)

/**
 * Releases the batches of events that were not counted when the copy was made. Another batch may have charged
 * these events since, so the summary of the meter decides.
 */
const releaseBatches = statement(
  () => sql`update metering_batches set is_held = 0,
      first_tried_at = coalesce(first_tried_at, 0), last_tried_at = coalesce(last_tried_at, 0)
    where state not in ('charged', 'dropped') and is_held = 1
      and (project_id ${OF_PROJECTS} or ${IS_ALL})`,
)

/** The time that an endpoint was not tried does not count against it. */
const postponeDisabling = statement(
  () => sql`update webhook_endpoints set failing_since = ${AT} - (
      select ${larger(0, sql`fences.set_at - failing_since`)} from fences
      where fences.project_id = webhook_endpoints.project_id)
    where failing_since is not null and exists (select 1 from fences
      where fences.project_id = webhook_endpoints.project_id and fences.project_id ${OF_PROJECTS})`,
)

const releaseReceived = statement(
  () => sql`update inbound_messages set state = 'pending' where state = 'held' and ${IS_ALL}`,
)

const deleteFences = statement(() => sql`delete from fences where project_id ${OF_PROJECTS}`)

const RELEASES = [releaseJobs, releaseBatches, postponeDisabling, releaseReceived]

/**
 * Without `projectId` all fences are lifted, with that of the server itself. Returns what is released.
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function releaseFences(
  deps: Deps,
  { projectId }: { projectId?: string | undefined } = {},
): Promise<FencedCounts> {
  const { store } = deps
  const fences = await listFences(store.read)
  const standing = fences.map((fence) => fence.projectId)
  const projectIds = projectId === undefined ? standing : standing.filter((id) => id === projectId)
  if (projectIds.length === 0) {
    if (projectId !== undefined) await requireProject(deps, projectId)
    return NOTHING_FENCED
  }
  const counts = await countFenced(deps, projectIds)
  const firings = await findFencedFirings(deps, projectIds)
  const act = (tx: Tx) => release(deps, tx, { projectIds, firings })
  const released = await store.write(act, { heavyFor: 'fence' })
  return { ...counts, ...released }
}

async function release(
  deps: Deps,
  tx: Tx,
  {
    projectIds,
    firings,
  }: { projectIds: readonly string[]; firings: Parameters<typeof releaseSchedules>[1] },
): Promise<Pick<FencedCounts, 'campaigns' | 'schedules'>> {
  const values = { projectIds: JSON.stringify(projectIds), at: deps.now() }
  const ofProjects = sql`${campaigns.projectId} in ${listOf(projectIds)}`
  const released = await resumeRestoredCampaigns(deps, tx, ofProjects)
  const schedules = await releaseSchedules(tx, firings)
  for (const each of RELEASES) await tx.execute(each, values)
  await tx.execute(deleteFences, values)
  tx.afterCommit(() => {
    deps.directory.drop()
    deps.queueNotifier.notify('anywhere')
    deps.campaignNotifier.notify()
    deps.jobNotifier.notify()
  })
  return { campaigns: released, schedules }
}

async function requireProject({ directory }: Deps, projectId: string): Promise<void> {
  if ((await directory.findProject(projectId)) === undefined) throw projectNotFound(projectId)
}
