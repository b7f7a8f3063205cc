/** Reads the rows of the ledger from the database of a server that has stopped. */
import Database from 'better-sqlite3'
import type { ProjectName } from '../history/history.ts'
import { readCounts } from './read-counts.ts'
import type { Rows } from './rows.ts'

export type ProjectIds = Record<ProjectName, string>

const project = (ids: ProjectIds, column = 'project_id') =>
  `case ${column} when '${ids.main}' then 'main' when '${ids.erasures}' then 'erasures' end`

/** `endpointUrl`: of the watched endpoint. */
export function readDatabase(file: string, ids: ProjectIds, endpointUrl: string): Rows {
  const db = new Database(file, { readonly: true })
  try {
    return {
      ...readMail(db, ids),
      ...readPeople(db, ids),
      ...readExecutions(db),
      ...readEndpoint(db, endpointUrl),
      jobs: list(db, 'select id, kind, state, error from jobs'),
      counts: readCounts(db, ids),
      integrity: checkIntegrity(db),
    }
  } finally {
    db.close()
  }
}

export function list<Row>(db: Database.Database, sql: string): Row[] {
  return db.prepare(sql).all() as Row[]
}

function readMail(db: Database.Database, ids: ProjectIds) {
  const emails = list<Rows['emails'][number] & { subject: string; variables: string | null }>(
    db,
    `select id, ${project(ids)} as project, recipient, subject, variables, source_type as source,
      state, status, error, campaign_id as campaignId, workflow_execution_id as executionId,
      workflow_step_execution_id as stepExecutionId, created_at as createdAt,
      updated_at as updatedAt, opened_at as openedAt, clicked_at as clickedAt,
      (select count(*) from attempts where email_id = emails.id and is_maybe_delivered = 1)
        as uncertainAttempts
    from emails where source_type <> 'INBOUND'`,
  )
  return {
    emails: emails.map(({ subject, variables, ...email }) => ({
      ...email,
      number: readSubject(subject) ?? readNumber(parse(variables).request),
    })),
    received: list<Rows['received'][number]>(
      db,
      "select id, subject from emails where source_type = 'INBOUND'",
    ),
    unread: list<Rows['unread'][number]>(
      db,
      "select id, state, error from inbound_messages where state <> 'processed'",
    ),
    campaigns: list<Rows['campaigns'][number]>(
      db,
      `select id, status, coalesce(rows_made, 0) as rowsMade,
        coalesce(skipped_unsubscribed, 0) as skippedUnsubscribed
      from campaigns left join campaign_progress on campaign_id = id`,
    ),
  }
}

function readPeople(db: Database.Database, ids: ProjectIds) {
  type Stored<Row> = Omit<Row, 'data' | 'number' | 'subscribed'> & { data: string | null }
  const contacts = list<Stored<Rows['contacts'][number]> & { subscribed: number }>(
    db,
    `select ${project(ids)} as project, email, subscribed, data from contacts`,
  )
  const events = list<Stored<Rows['events'][number]>>(
    db,
    `select seq, id, ${project(ids)} as project, name, email_id as emailId, data from events`,
  )
  return {
    contacts: contacts.map(({ data, subscribed, ...contact }) => {
      return { ...contact, subscribed: subscribed === 1, data: parse(data) }
    }),
    events: events.map(({ data, ...event }) => {
      const parsed = parse(data)
      return { ...event, data: parsed, number: readNumber(parsed) }
    }),
  }
}

function readExecutions(db: Database.Database) {
  return {
    executions: list<Rows['executions'][number]>(
      db,
      `select workflow_executions.id, email, status, exit_reason as exitReason
      from workflow_executions join contacts on contacts.id = contact_id`,
    ),
    steps: list<Rows['steps'][number]>(
      db,
      `select step.id, execution.id as executionId, email, type, step.status
      from workflow_step_executions as step
      join workflow_executions as execution on execution.number = execution_number
      join contacts on contacts.id = contact_id
      join workflow_steps on workflow_steps.id = step_id`,
    ),
  }
}

function readEndpoint(db: Database.Database, url: string) {
  const [endpoint] = list<{ id: string; afterSeq: number }>(
    db,
    `select id, after_seq as afterSeq from webhook_endpoints where url = '${url}'`,
  )
  if (endpoint === undefined) throw new Error('the watched endpoint is gone')
  return {
    endpointAfterSeq: endpoint.afterSeq,
    deliveries: list<Rows['deliveries'][number]>(
      db,
      `select id, event_id as eventId, status from webhook_deliveries
      where endpoint_id = '${endpoint.id}'`,
    ),
  }
}

function checkIntegrity(db: Database.Database): string[] {
  const found = list<{ integrity_check: string }>(db, 'pragma integrity_check')
  const broken = list<{ table: string }>(db, 'pragma foreign_key_check')
  return [
    ...found.map((row) => row.integrity_check).filter((text) => text !== 'ok'),
    ...broken.map(({ table }) => `a row of ${table} refers to nothing`),
  ]
}

function parse(text: string | null): Record<string, unknown> {
  return text === null ? {} : (JSON.parse(text) as Record<string, unknown>)
}

function readSubject(subject: string): number | null {
  const [, number] = /^Soak (\d+)/.exec(subject) ?? []
  return number === undefined ? null : Number(number)
}

/** `number`, also as `{ value, persistent }`. */
function readNumber(data: unknown): number | null {
  const { number } = Object(data) as { number?: unknown }
  const value = (Object(number) as { value?: unknown }).value ?? number
  return typeof value === 'number' ? value : null
}
