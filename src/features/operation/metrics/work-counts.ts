/**
 * Counts the work that waits: received mail, jobs, campaigns, executions, webhooks, events. Each query reads a
 * partial index of unfinished rows, on a scan thread.
 */

import { indexedBy, larger, listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { idTime } from '../../../store/ids.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { FOLLOWERS } from '../../ground/event-handlers.ts'

type Oldest = { count: number; oldestId: string | null }

export const countInbound = statement<Oldest & { kind: string }>(
  () => sql`select pending_kind as kind, count(*) as count, min(id) as "oldestId"
    from inbound_messages where state = 'pending' and is_suspect = 0 group by pending_kind`,
)

export const countSuspects = statement<Oldest>(
  () => sql`select count(*) as count, min(id) as "oldestId"
    from inbound_messages where state = 'pending' and is_suspect = 1`,
)

export const countJobs = statement<{ kind: string; state: string; count: number; runAt: number }>(
  () => sql`select kind, state, count(*) as count, min(run_at) as "runAt"
    from jobs where state in ('waiting', 'active') group by kind, state`,
)

/** Finished campaigns, and drafts, are no work. */
export const countCampaigns = statement<{
  state: 'scheduled' | 'sending' | 'paused'
  count: number
}>(
  () => sql`select case when status = 'SCHEDULED' then 'scheduled'
      when paused_at is null then 'sending' else 'paused' end as state, count(*) as count
    from campaigns where status in ('SCHEDULED', 'SENDING') group by 1`,
)

export const countExecutions = statement<{ due: number; delayed: number; waiting: number }>(
  () => sql`select count(*) filter (where due_at <= ${parameter('now')}) as due,
      count(*) filter (where due_at > ${parameter('now')}) as delayed,
      count(*) filter (where due_at is null) as waiting
    from workflow_executions ${indexedBy('workflow_executions_place')}
    where status in ('RUNNING', 'WAITING')`,
)

/** Executions of chains that wait for a place in a minute. */
export const countLine = statement<{ count: number }>(
  () => sql`select count(*) as count from workflow_executions ${indexedBy('workflow_executions_line')}
    where depth > 0 and steps_done = 0 and status = 'WAITING'`,
)

export const countWebhooks = statement<{ due: number; delayed: number }>(
  () => sql`select count(*) filter (where due_at <= ${parameter('now')}) as due,
      count(*) filter (where due_at > ${parameter('now')}) as delayed
    from webhook_deliveries where due_at is not null`,
)

/** The server disables endpoints that do not work. */
export const countEndpoints = statement<{ enabled: number; disabled: number; failing: number }>(
  () => sql`select count(*) filter (where enabled = 1 and failing_since is null) as enabled,
      count(*) filter (where enabled = 1 and failing_since is not null) as failing,
      count(*) filter (where enabled = 0) as disabled
    from webhook_endpoints where deleted_at is null`,
)

/** The rows behind each follower's cursor. One follower reads attempts, the others events. */
export const listLags = statement<{ name: string; lag: number }>(
  () =>
    sql`select name, ${larger(
      sql`case name
      when 'campaign-refusals' then (select coalesce(max(id), 0) from attempts)
      else (select coalesce(max(seq), 0) from events) end - seq`,
      sql`0`,
    )} as lag from event_followers where name in ${listOf([...FOLLOWERS])} order by name`,
)

export type WorkCounts = Awaited<ReturnType<typeof countWork>>

export async function countWork({ store, now }: Pick<Base, 'store' | 'now'>) {
  const { scan } = store
  const at = { now: now() }
  const inbound = await scan.list(countInbound)
  const [suspects] = await scan.list(countSuspects)
  const [executions] = await scan.list(countExecutions, at)
  const [line] = await scan.list(countLine)
  const [webhooks] = await scan.list(countWebhooks, at)
  const [endpoints] = await scan.list(countEndpoints)
  const received = [
    ...inbound,
    ...(suspects === undefined ? [] : [{ ...suspects, kind: 'suspect' }]),
  ]
  return {
    inbound: Object.fromEntries(received.map(({ kind, count }) => [kind, count])),
    oldestInboundAt: earliest(received.flatMap(({ oldestId }) => oldestId ?? [])),
    jobs: await scan.list(countJobs),
    campaigns: await scan.list(countCampaigns),
    executions,
    inLine: line?.count ?? 0,
    webhooks,
    endpoints,
    lags: await scan.list(listLags),
  }
}

function earliest(ids: readonly string[]): number | undefined {
  const [first] = ids.toSorted()
  return first === undefined ? undefined : idTime(first)
}
