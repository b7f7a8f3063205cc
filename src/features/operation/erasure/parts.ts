/**
 * The rows of a project, table by table, in the order in which they are erased: the queue first, then
 * what refers to other rows before the rows themselves. Rows that others own go with their owners:
 * attempts with emails, steps of executions with executions.
 *
 * A table with the column `project_id` is in one of these lists; a test checks that.
 */
import type { Statement } from '../../../store/database.ts'
import { indexedBy, jsonValue, notIndexed, rowNumber } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { insertErasedContacts, insertErasedEmails } from '../../people/wishes/erased-recipients.ts'

/**
 * The parameters are those of `PartValues`; `erase` takes a `limit` too and deletes as many rows at
 * most.
 */
export type Part = {
  table: string
  /** Keeps the ids of the rows that `erase` deletes next. */
  keep: Statement<unknown> | undefined
  /** A row if the project has any. */
  find: Statement<{ found: number }>
  count: Statement<{ rows: number }>
  erase: Statement<unknown>
}

/** `jobId`: the job that erases. `before`: lines of the request log from then on stay. `at`: now. */
export type PartValues = { projectId: string; jobId: string; before: number; at: number }

/** `from`: what follows the word, with the condition. `key`: what identifies a row. */
type PartSpec = {
  key?: () => SQL
  from: () => SQL
  erase?: () => SQL
  /** Makes `keep` from a query of ids. */
  keep?: (ids: SQL) => SQL
}

const PROJECT = parameter('projectId')
const LIMIT = parameter('limit')
const isOwn = sql`project_id = ${PROJECT}`
const ownOf = (table: string) => sql`(select id from ${sql.raw(table)} where ${isOwn})`
/** The events up to there count for billing. */
const billedUntil = sql`(select seq from event_followers where name = 'billing')`
const uploadsOfJobs = sql`(select ${jsonValue(sql`payload`, 'uploadId')} from jobs
  where ${isOwn} and kind in ('import', 'suppressions-import'))`

/**
 * As many executions as have rows up to the limit, those of their steps counted; at least one. So a
 * batch of long executions is no longer than others.
 */
const eraseExecutions = () => sql`delete from workflow_executions where number in (
  select number from (
    select number, sum(steps_done + 2) over (order by number) - steps_done - 2 as "rowsBefore"
    from (select number, steps_done from workflow_executions
      where workflow_id in ${ownOf('workflows')} limit ${LIMIT}))
  where "rowsBefore" < ${LIMIT})`

/** Bodies and attachments, which `contents.ts` deletes. */
export const CONTENTS = part('contents')

/** The parts that a reset erases after the queue, in this order. */
const RESET_PARTS: readonly Part[] = [
  part('webhook_deliveries', {
    from: () => sql`webhook_deliveries where endpoint_id in ${ownOf('webhook_endpoints')}`,
  }),
  part('webhook_endpoints'),
  part('workflow_executions', {
    from: () => sql`workflow_executions where workflow_id in ${ownOf('workflows')}`,
    erase: eraseExecutions,
  }),
  part('workflow_figures', {
    key: () => sql`workflow_id, subject, figure`,
    from: () => sql`workflow_figures where workflow_id in ${ownOf('workflows')}`,
  }),
  part('workflow_steps', {
    from: () => sql`workflow_steps where workflow_id in ${ownOf('workflows')}`,
  }),
  part('workflows'),
  part('chain_starts', { key: () => sql`project_id` }),
  part('events', { from: () => sql`events ${indexedBy('events_named')} where ${isOwn}` }),
  part('deleted_events', {
    from: () => sql`deleted_events where ${isOwn} and seq <= ${billedUntil}`,
  }),
  part('mail_counts', { key: () => sql`project_id, kind, span, starts_at, stream, subject` }),
  part('link_counts', { key: () => sql`project_id, span, starts_at, stream, subject` }),
  part('event_counts', { key: () => sql`project_id, span, starts_at, stream, subject` }),
  part('analytics_subjects'),
  part('campaign_links', {
    key: () => sql`campaign_id, url`,
    from: () => sql`campaign_links where campaign_id in ${ownOf('campaigns')}`,
  }),
  part('campaigns'),
  part('segment_members', {
    key: () => sql`segment_id, contact_id`,
    from: () => sql`segment_members where segment_id in ${ownOf('segments')}`,
  }),
  part('segments'),
  part('contacts', {
    from: () => sql`contacts ${indexedBy('contacts_order')} where ${isOwn}`,
    keep: insertErasedContacts,
  }),
  part('contact_fields', { key: () => sql`project_id, key, kind` }),
  part('templates'),
  part('strikes'),
  part('received_recently'),
  part('idempotency_keys', { key: () => sql`project_id, key` }),
  part('api_requests', {
    from: () => sql`api_requests where ${isOwn} and created_at < ${parameter('before')}`,
  }),
  part('import_chunks', {
    key: () => sql`upload_id, number`,
    from: () => sql`import_chunks where upload_id in ${uploadsOfJobs}`,
  }),
  part('jobs', { from: () => sql`jobs where ${isOwn} and id <> ${parameter('jobId')}` }),
]

/** Emails, which are the queue; their attempts go with them. */
export const QUEUE = part('emails', {
  from: () => sql`emails ${indexedBy('emails_newest')} where ${isOwn}`,
  keep: insertErasedEmails,
})

/**
 * Events that billing has not counted yet. When they are deleted, the database copies them with what
 * billing needs of their emails, so they go before the emails.
 */
export const UNBILLED = part('events', {
  from: () => sql`events ${notIndexed()} where seq > ${billedUntil} and ${isOwn}`,
})

/** What waits for billing. */
export const findUnbilled = statement<{ found: number }>(
  () => sql`select 1 as found from deleted_events where ${isOwn} and seq > ${billedUntil} limit 1`,
)

/** What a reset keeps and a deletion erases. */
const KEPT_PARTS: readonly Part[] = [
  part('wishes', { key: () => sql`digest` }),
  part('unkeyed_wishes', { key: () => sql`project_id, email` }),
  part('erased_recipients'),
  part('suppressions'),
  part('held_suppressions'),
  part('uploads'),
  part('reputation_hours', { key: () => sql`project_id, starts_at` }),
  part('reputation_totals', { key: () => sql`project_id` }),
  part('new_project_hours', { key: () => sql`project_id, starts_at` }),
  part('usage_months', { key: () => sql`project_id, starts_at` }),
  part('usage_notices', {
    key: () => sql`project_id, starts_at, category, percent, limit_emails`,
  }),
  part('webhook_signing_secrets'),
  part('fences', { key: () => sql`project_id` }),
  part('invitations'),
  part('memberships', { key: () => sql`user_id, project_id` }),
  part('domains'),
]

/** Tables with the column `project_id` whose rows go with those of another table. */
export const OWNED_TABLES: readonly string[] = ['campaign_progress', 'workflow_requests']

/** What a deleted project sent is still charged. */
export const SURVIVING_TABLES: readonly string[] = ['metering_batches']

/** After the queue and its contents. */
export const PARTS_OF = {
  reset: RESET_PARTS,
  deletion: [...RESET_PARTS, ...KEPT_PARTS],
} as const

/** The tables that a reset leaves as they are. */
export const KEPT_TABLES: readonly string[] = KEPT_PARTS.map(({ table }) => table)

function part(table: string, spec: Partial<PartSpec> = {}): Part {
  const key = spec.key ?? rowNumber
  const from = spec.from ?? (() => sql`${sql.raw(table)} where ${isOwn}`)
  const erase = () => sql`delete from ${sql.raw(table)} where (${key()}) in (
    select ${key()} from ${from()} limit ${LIMIT})`
  const keep = spec.keep
  return {
    table,
    keep: keep && statement(() => keep(sql`select id from ${from()} limit ${LIMIT}`)),
    find: statement(() => sql`select 1 as found from ${from()} limit 1`),
    count: statement(() => sql`select count(*) as rows from ${from()}`),
    erase: statement(spec.erase ?? erase),
  }
}
