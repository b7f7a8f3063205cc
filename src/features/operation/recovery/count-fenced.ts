/** Counts what fences hold, on a scan thread. */
import { indexedBy, listOf } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { isParked, isPaused } from '../../../store/shelves.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { FENCED_UNTIL, SERVER } from '../../ground/fence/rows.ts'

export type FencedCounts = {
  /** Without the mail of campaigns that are being sent. */
  emails: number
  campaigns: number
  executions: number
  schedules: number
  /** Deliveries of webhooks. */
  webhooks: number
  meteringBatches: number
  jobs: number
  /** Received messages that were not read yet: only with all projects. */
  received: number
}

export const NOTHING_FENCED: FencedCounts = {
  ...{ emails: 0, campaigns: 0, executions: 0, schedules: 0 },
  ...{ webhooks: 0, meteringBatches: 0, jobs: 0, received: 0 },
}

const isOwn = (column: string) => sql`${sql.raw(column)} in ${listOf(parameter('projectIds'))}`

const isOlder = sql`emails.created_at <= fences.mail_until`
const isOfSending = sql`exists (select 1 from campaigns
  where campaigns.id = emails.campaign_id and campaigns.status = 'SENDING')`

/** Both the emails that were put aside and those that will be. */
const emails = sql`select (select count(*) from fences
    join emails ${indexedBy('emails_parked')} on emails.project_id = fences.project_id
    where ${isOwn('fences.project_id')} and ${isParked} and ${isPaused} and not ${isOfSending})
  + (select count(*) from emails ${indexedBy('emails_ready')}
    join fences on fences.project_id = emails.project_id and fences.is_settled = 0
    where due_at is not null and ${isOwn('emails.project_id')} and ${isOlder} and not ${isOfSending})`

const campaigns = sql`select count(*) from campaigns
  where campaigns.status in ('SCHEDULED', 'SENDING') and pause_reason = 'restored'
    and ${isOwn('project_id')}`

const executions = sql`select count(*) from fences
  join workflows on workflows.project_id = fences.project_id and workflows.deleted_at is null
  join workflow_executions as execution ${indexedBy('workflow_executions_status')}
    on execution.workflow_id = workflows.id
  where ${isOwn('fences.project_id')} and execution.status in ('RUNNING', 'WAITING')
    and execution.number <= fences.execution_number and execution.number > workflows.cancelled_through`

const schedules = sql`select count(*) from workflows
  where ${isOwn('project_id')} and enabled = 1 and trigger_type = 'SCHEDULE'
    and next_fire_at is null`

const webhooks = sql`select count(*) from fences
  join webhook_endpoints as endpoint on endpoint.project_id = fences.project_id
    and endpoint.deleted_at is null and endpoint.enabled = 1
  join webhook_deliveries as delivery on delivery.endpoint_id = endpoint.id
  where ${isOwn('fences.project_id')} and delivery.status = 'PENDING'
    and delivery.number <= fences.delivery_number and delivery.number > endpoint.failed_through`

/** Batches of projects that are gone count with the server. */
const batches = sql`select count(*) from metering_batches ${indexedBy('metering_batches_open')}
  where state not in ('charged', 'dropped') and is_held = 1
    and (${isOwn('project_id')} or ${isAll()})`

const jobs = sql`select count(*) from jobs
  where state in ('waiting', 'active') and run_at = ${FENCED_UNTIL}
    and ${isOwn("coalesce(project_id, '')")}`

const received = sql`select count(*) from inbound_messages where state = 'held' and ${isAll()}`

/** Whether the server itself is among `projectIds`. */
function isAll(): SQL {
  return sql`${SERVER} in ${listOf(parameter('projectIds'))}`
}

const PARTS: Readonly<Record<keyof FencedCounts, SQL>> = {
  ...{ emails, campaigns, executions, schedules, webhooks },
  ...{ meteringBatches: batches, jobs, received },
}

const countAll = statement<FencedCounts>(
  () =>
    sql`select ${sql.join(
      Object.entries(PARTS).map(([name, count]) => sql`(${count}) as ${sql.identifier(name)}`),
      sql`, `,
    )}`,
)

/** `projectIds`: with `SERVER` for what belongs to no project. */
export async function countFenced(
  { store }: Pick<Base, 'store'>,
  projectIds: readonly string[],
): Promise<FencedCounts> {
  const counts = await store.scan.find(countAll, { projectIds: JSON.stringify(projectIds) })
  return counts ?? NOTHING_FENCED
}
