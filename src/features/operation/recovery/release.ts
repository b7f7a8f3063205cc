/**
 * Counts what fences hold, on a scan thread, and lifts the fence of a project, or all fences: in one
 * transaction the fence is gone and what it held may act. Mail that was put aside is made due behind it by
 * the running server, or by the next one (`messages/disabled/settle.ts`, `campaigns/settle-stopped.ts`).
 */
import { indexedBy, larger, listOf } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import { isParked, isPaused } from '../../../store/shelves.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { projectNotFound } from '../../ground/directory.ts'
import { FENCED_UNTIL, listFences, SERVER } from '../../ground/fence/rows.ts'
import type { QueueNotifier } from '../../mail/messages/queue/notifier.ts'
import { resumeRestoredCampaigns } from '../../outreach/campaigns/stopping.ts'
import { findFencedFirings, releaseSchedules } from '../../outreach/workflows/schedule/loop.ts'

export type FencedCounts = {
  /** Waiting emails, without the mail of campaigns that are being sent. */
  emails: number
  campaigns: number
  executions: number
  schedules: number
  /** Deliveries of webhooks. */
  webhooks: number
  meteringBatches: number
  jobs: number
  /** Received messages that were not read yet. Counted only together with all projects. */
  received: number
}

const NOTHING_FENCED: FencedCounts = {
  ...{ emails: 0, campaigns: 0, executions: 0, schedules: 0 },
  ...{ webhooks: 0, meteringBatches: 0, jobs: 0, received: 0 },
}

const isOwn = (column: string) => sql`${sql.raw(column)} in ${listOf(parameter('projectIds'))}`

const isOlder = sql`emails.created_at <= fences.mail_until`
const isOfSending = sql`exists (select 1 from campaigns
  where campaigns.id = emails.campaign_id and campaigns.status = 'SENDING')`

/** Counts the emails that were put aside, and those that are yet to be put aside. */
const emails = sql`select (select count(*) from fences
    join emails ${indexedBy('emails_parked')} on emails.project_id = fences.project_id
    where ${isOwn('fences.project_id')} and ${isParked} and ${isPaused} and not ${isOfSending})
  + (select count(*) from emails ${indexedBy('emails_ready')}
    join fences on fences.project_id = emails.project_id and fences.is_settled = 0
    where due_at is not null and ${isOwn('emails.project_id')} and ${isOlder} and not ${isOfSending})`

const campaignCount = sql`select count(*) from campaigns
  where campaigns.status in ('SCHEDULED', 'SENDING') and pause_reason = 'restored'
    and ${isOwn('project_id')}`

const executions = sql`select count(*) from fences
  join workflows on workflows.project_id = fences.project_id and workflows.deleted_at is null
  join workflow_executions as execution ${indexedBy('workflow_executions_status')}
    on execution.workflow_id = workflows.id
  where ${isOwn('fences.project_id')} and execution.status in ('RUNNING', 'WAITING')
    and execution.number <= fences.execution_number and execution.number > workflows.cancelled_through`

const scheduleCount = sql`select count(*) from workflows
  where ${isOwn('project_id')} and enabled = 1 and trigger_type = 'SCHEDULE'
    and next_fire_at is null`

const webhooks = sql`select count(*) from fences
  join webhook_endpoints as endpoint on endpoint.project_id = fences.project_id
    and endpoint.deleted_at is null and endpoint.enabled = 1
  join webhook_deliveries as delivery on delivery.endpoint_id = endpoint.id
  where ${isOwn('fences.project_id')} and delivery.status = 'PENDING'
    and delivery.number <= fences.delivery_number and delivery.number > endpoint.failed_through`

/** Batches of deleted projects are counted with the server's own. */
const batches = sql`select count(*) from metering_batches ${indexedBy('metering_batches_open')}
  where state not in ('charged', 'dropped') and is_held = 1
    and (${isOwn('project_id')} or ${isAll()})`

const jobs = sql`select count(*) from jobs
  where state in ('waiting', 'active') and run_at = ${FENCED_UNTIL}
    and ${isOwn("coalesce(project_id, '')")}`

const received = sql`select count(*) from inbound_messages where state = 'held' and ${isAll()}`

/** SQL: whether `projectIds` contains the server itself. */
function isAll(): SQL {
  return sql`${SERVER} in ${listOf(parameter('projectIds'))}`
}

const PARTS: Readonly<Record<keyof FencedCounts, SQL>> = {
  ...{ emails, campaigns: campaignCount, executions, schedules: scheduleCount, webhooks },
  ...{ meteringBatches: batches, jobs, received },
}

const countAll = statement<FencedCounts>(
  () =>
    sql`select ${sql.join(
      Object.entries(PARTS).map(([name, count]) => sql`(${count}) as ${sql.identifier(name)}`),
      sql`, `,
    )}`,
)

/** Counts what fences hold. `projectIds`: `SERVER` among them stands for work without a project. */
export async function countFenced(
  { store }: Pick<Base, 'store'>,
  projectIds: readonly string[],
): Promise<FencedCounts> {
  const counts = await store.scan.find(countAll, { projectIds: JSON.stringify(projectIds) })
  return counts ?? NOTHING_FENCED
}

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

/**
 * Moves the beginning of an endpoint's failures, so that the time behind the fence does not count
 * against the endpoint.
 */
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
 * Lifts the fence of a project; without `projectId` all fences, that of the server included.
 * Returns what is released.
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
