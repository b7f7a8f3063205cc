/** The figures that followers and triggers keep, each with a recount of the rows that it is made of. */
import type Database from 'better-sqlite3'
import type { ProjectIds } from './read-database.ts'
import type { Count } from './rows.ts'

const DAY_MS = 86_400_000
const OUTBOUND = "source_type <> 'INBOUND' and is_test = 0 and is_platform = 0"
const COUNTED = "status not in ('FAILED', 'SUPPRESSED') and is_platform = 0"

/** A figure of all emails of a project, and the emails that it counts. */
const MAIL_FIGURES = {
  sent: '(sent_at is not null or bounced_at is not null)',
  delivered: 'delivered_at is not null and bounced_at is null',
  opened: 'opened_at is not null',
  clicked: 'clicked_at is not null',
  complained: 'complained_at is not null',
} as const

const CAMPAIGN_FIGURES = {
  sent_count: MAIL_FIGURES.sent,
  delivered_count: MAIL_FIGURES.delivered,
  opened_count: MAIL_FIGURES.opened,
  clicked_count: MAIL_FIGURES.clicked,
  complained_count: MAIL_FIGURES.complained,
  bounced_count: 'bounced_at is not null and complained_at is null',
  suppressed_count: "state = 'suppressed'",
  rows_made: 'true',
} as const

const USAGE = {
  transactional: 'TRANSACTIONAL',
  campaigns: 'CAMPAIGN',
  workflows: 'WORKFLOW',
  inbound: 'INBOUND',
} as const

/** `src/store/shelves.ts` has the numbers. */
const SHELF_OF_STATE = `case
  when status in ('BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED') then shelf is
    case status when 'BOUNCED' then 4 when 'COMPLAINED' then 5 when 'FAILED' then 6 else 7 end
  when state = 'held' then shelf is 1
  when state = 'paused' then shelf is case when attempt_count > 0 then 2 else 3 end
  when campaign_id is null then shelf is null
  when state = 'queued' then shelf is 8
  when state = 'deferred' then shelf is 9
  when state = 'sending' then coalesce(shelf, 0) in (8, 9)
  else shelf is null end`

export function readCounts(db: Database.Database, ids: ProjectIds): Count[] {
  const read = (sql: string) => Number(db.prepare(sql).pluck().get() ?? 0)
  const compare = (name: string, kept: string, recounted: string): Count => {
    return { name, kept: read(kept), recounted: read(recounted) }
  }
  return [
    ...listContactCounts(ids, compare),
    ...listMailCounts(ids, compare),
    ...listWorkflowCounts(compare),
    compare(
      'emails on their shelves',
      `select count(*) from emails where ${SHELF_OF_STATE}`,
      'select count(*) from emails',
    ),
    compare(
      'all events of analytics',
      `select sum(events) from event_counts where span = ${DAY_MS}`,
      "select seq from sqlite_sequence where name = 'events'",
    ),
  ]
}

type Compare = (name: string, kept: string, recounted: string) => Count

function listContactCounts(ids: ProjectIds, compare: Compare): Count[] {
  return Object.entries(ids).flatMap(([name, id]) => [
    compare(
      `contacts of ${name}`,
      `select contact_count from projects where id = '${id}'`,
      `select count(*) from contacts where project_id = '${id}'`,
    ),
    compare(
      `subscribed contacts of ${name}`,
      `select subscribed_count from projects where id = '${id}'`,
      `select count(*) from contacts where project_id = '${id}' and subscribed = 1`,
    ),
    compare(
      `contacts of ${name} with a revision`,
      `select sum(contacts) from contact_fields where project_id = '${id}' and key = 'revision'`,
      `select count(*) from contacts where project_id = '${id}'
        and json_extract(data, '$.revision') is not null`,
    ),
  ])
}

/** Of the project `main` only: what was erased is counted, and has no rows any more. */
function listMailCounts({ main }: ProjectIds, compare: Compare): Count[] {
  const emails = `select count(*) from emails where project_id = '${main}'`
  const campaigns = `select count(*) from emails where campaign_id is not null`
  return [
    ...Object.entries(USAGE).map(([category, source]) =>
      compare(
        `use of ${category}`,
        `select sum(${category}) from usage_months where project_id = '${main}'`,
        `${emails} and source_type = '${source}' and ${COUNTED}`,
      ),
    ),
    ...Object.entries(MAIL_FIGURES).map(([figure, condition]) =>
      compare(
        `analytics: ${figure}`,
        `select sum(${figure}) from mail_counts
          where project_id = '${main}' and kind = 'all' and span = ${DAY_MS}`,
        `${emails} and ${OUTBOUND} and ${condition}`,
      ),
    ),
    ...Object.entries(CAMPAIGN_FIGURES).map(([figure, condition]) =>
      compare(
        `campaigns: ${figure}`,
        `select sum(${figure}) from campaign_progress`,
        `${campaigns} and ${condition}`,
      ),
    ),
    compare(
      'campaigns: failed and unsubscribed',
      'select sum(failed_count + failed_unsubscribed_count) from campaign_progress',
      `${campaigns} and state = 'failed'`,
    ),
  ]
}

function listWorkflowCounts(compare: Compare): Count[] {
  return [
    compare(
      'workflows: completed steps',
      "select sum(count) from workflow_figures where figure = 'completed' and subject <> ''",
      "select count(*) from workflow_step_executions where status = 'COMPLETED'",
    ),
    compare(
      'workflows: events started',
      "select count(*) from events where name = 'workflow.started'",
      'select count(*) from workflow_executions',
    ),
  ]
}
