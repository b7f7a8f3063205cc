/** What a running server still has to do. */
import Database from 'better-sqlite3'

/** How many rows each kind of work has. A campaign that is paused by hand is not due. */
const DUE: Record<string, string> = {
  emails: `select count(*) from emails
    where state in ('queued', 'deferred', 'held', 'paused', 'sending')`,
  'webhook deliveries': `select count(*) from webhook_deliveries
    join webhook_endpoints on webhook_endpoints.id = endpoint_id
    where status = 'PENDING' and deleted_at is null and description = 'watched'`,
  executions: "select count(*) from workflow_executions where status in ('RUNNING', 'WAITING')",
  'requests of workflows': 'select count(*) from workflow_requests',
  'received messages': "select count(*) from inbound_messages where state = 'pending'",
  campaigns: "select count(*) from campaigns where status in ('SCHEDULED', 'SENDING')",
  jobs: `select count(*) from jobs where state in ('waiting', 'active')
    and kind in ('import', 'bulk-subscribe', 'bulk-unsubscribe', 'bulk-delete')`,
  // The backfill has an end of its own.
  followers: `select count(*) from event_followers where name <> 'analytics-backfill' and seq < (
    case when name = 'campaign-refusals' then (select coalesce(max(id), 0) from attempts)
    else (select coalesce(max(seq), 0) from events) end)`,
}

/** Names and numbers of what is due; empty if nothing is. */
export function findDue(file: string): Record<string, number> {
  const db = new Database(file, { readonly: true, timeout: 10_000 })
  try {
    const counts = Object.entries(DUE).map(([name, sql]) => {
      return [name, Number(db.prepare(sql).pluck().get())] as const
    })
    return Object.fromEntries(counts.filter(([, count]) => count > 0))
  } finally {
    db.close()
  }
}
