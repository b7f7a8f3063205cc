/**
 * The gauges of waiting work: received mail, jobs, campaigns, executions, webhooks, and the
 * followers of events. Each query reads a partial index of unfinished rows, on a scan thread.
 */
import { indexedBy, larger, listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { idTime } from '../../../store/ids.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { FOLLOWERS } from '../../ground/event-handlers.ts'
import {
  byState,
  createRecent,
  type Gauge,
  type GaugeValue,
  type Recent,
  type RecentOptions,
} from './gauge.ts'

type CountDeps = Pick<Base, 'store' | 'now'>

export function workGauges(deps: CountDeps, options?: RecentOptions): Gauge[] {
  const recent = createRecent(() => countWork(deps), options)
  return [
    ...inboundGauges(deps, recent),
    ...jobGauges(deps, recent),
    {
      name: 'pillarbox_campaigns',
      help: 'Campaigns that are to be sent, by state',
      labelNames: ['state'],
      read: from(recent, ({ campaigns }) => {
        const counts = campaigns.map(({ state, count }) => [state, count])
        return byState({ scheduled: 0, sending: 0, paused: 0, ...Object.fromEntries(counts) })
      }),
    },
    {
      name: 'pillarbox_executions',
      help: 'Executions of workflows under way, by state: due now, delayed until a time, or waiting for an event or a response',
      labelNames: ['state'],
      read: from(recent, ({ executions }) => byState(executions ?? {})),
    },
    {
      name: 'pillarbox_chain_starts_waiting',
      help: 'Executions of workflows, started by events of executions, that wait for a place in a minute',
      labelNames: [],
      read: from(recent, ({ inLine }) => [{ value: inLine, labels: {} }]),
    },
    ...webhookGauges(recent),
    {
      name: 'pillarbox_follower_lag_events',
      help: 'Events that a follower has not handled yet; for campaign-refusals, attempts',
      labelNames: ['follower'],
      read: from(recent, ({ lags }) =>
        lags.map(({ name, lag }) => ({ value: Math.max(0, lag), labels: { follower: name } })),
      ),
    },
  ]
}

function from(recent: Recent<WorkCounts>, toValues: (counts: WorkCounts) => GaugeValue[]) {
  return async () => {
    const counts = await recent()
    return counts === undefined ? [] : toValues(counts)
  }
}

function inboundGauges({ now }: CountDeps, recent: Recent<WorkCounts>): Gauge[] {
  return [
    {
      name: 'pillarbox_inbound_waiting_messages',
      help: 'Received messages that are not processed yet: reports, mail, and suspects, which are parsed alone',
      labelNames: ['kind'],
      read: from(recent, ({ inbound }) =>
        Object.entries({ reports: 0, mail: 0, suspect: 0, ...inbound }).map(([kind, value]) => ({
          value,
          labels: { kind },
        })),
      ),
    },
    {
      name: 'pillarbox_inbound_oldest_waiting_seconds',
      help: 'Age of the oldest received message that is not processed yet; 0 without any',
      read: from(recent, ({ oldestInboundAt }) => [{ value: age(now(), oldestInboundAt) }]),
    },
  ]
}

function jobGauges({ now }: CountDeps, recent: Recent<WorkCounts>): Gauge[] {
  return [
    {
      name: 'pillarbox_jobs',
      help: 'Background jobs that wait or run (active), by kind',
      labelNames: ['kind', 'state'],
      read: from(recent, ({ jobs }) =>
        jobs.map(({ kind, state, count }) => ({ value: count, labels: { kind, state } })),
      ),
    },
    {
      name: 'pillarbox_jobs_oldest_due_seconds',
      help: 'How long the background job that is due first has waited for its run; 0 when none is due',
      read: from(recent, ({ jobs }) => {
        const waiting = jobs.flatMap(({ state, runAt }) => (state === 'waiting' ? [runAt] : []))
        return [{ value: age(now(), waiting.length === 0 ? undefined : Math.min(...waiting)) }]
      }),
    },
  ]
}

function webhookGauges(recent: Recent<WorkCounts>): Gauge[] {
  return [
    {
      name: 'pillarbox_webhook_deliveries',
      help: 'Deliveries of webhooks that wait, by state: due now, or delayed after a failure',
      labelNames: ['state'],
      read: from(recent, ({ webhooks }) => byState(webhooks ?? {})),
    },
    {
      name: 'pillarbox_webhook_endpoints',
      help: 'Endpoints of webhooks, by state: enabled, failing since their last success, or disabled',
      labelNames: ['state'],
      read: from(recent, ({ endpoints }) => byState(endpoints ?? {})),
    },
  ]
}

function age(now: number, at: number | undefined): number {
  return Math.max(0, now - (at ?? now)) / 1_000
}

type Oldest = { count: number; oldestId: string | null }

const countInbound = statement<Oldest & { kind: string }>(
  () => sql`select pending_kind as kind, count(*) as count, min(id) as "oldestId"
    from inbound_messages where state = 'pending' and is_suspect = 0 group by pending_kind`,
)

const countSuspects = statement<Oldest>(
  () => sql`select count(*) as count, min(id) as "oldestId"
    from inbound_messages where state = 'pending' and is_suspect = 1`,
)

const countJobs = statement<{ kind: string; state: string; count: number; runAt: number }>(
  () => sql`select kind, state, count(*) as count, min(run_at) as "runAt"
    from jobs where state in ('waiting', 'active') group by kind, state`,
)

/** Counts campaigns that have work to do: no finished ones, and no drafts. */
const countCampaigns = statement<{
  state: 'scheduled' | 'sending' | 'paused'
  count: number
}>(
  () => sql`select case when status = 'SCHEDULED' then 'scheduled'
      when paused_at is null then 'sending' else 'paused' end as state, count(*) as count
    from campaigns where status in ('SCHEDULED', 'SENDING') group by 1`,
)

const countExecutions = statement<{ due: number; delayed: number; waiting: number }>(
  () => sql`select count(*) filter (where due_at <= ${parameter('now')}) as due,
      count(*) filter (where due_at > ${parameter('now')}) as delayed,
      count(*) filter (where due_at is null) as waiting
    from workflow_executions ${indexedBy('workflow_executions_place')}
    where status in ('RUNNING', 'WAITING')`,
)

/** Counts executions of chains, which wait because only some may begin in a minute. */
const countLine = statement<{ count: number }>(
  () => sql`select count(*) as count from workflow_executions ${indexedBy('workflow_executions_line')}
    where depth > 0 and steps_done = 0 and status = 'WAITING'`,
)

const countWebhooks = statement<{ due: number; delayed: number }>(
  () => sql`select count(*) filter (where due_at <= ${parameter('now')}) as due,
      count(*) filter (where due_at > ${parameter('now')}) as delayed
    from webhook_deliveries where due_at is not null`,
)

/**
 * Counts endpoints. A disabled one may have been disabled by the server because it did not work.
 */
const countEndpoints = statement<{ enabled: number; disabled: number; failing: number }>(
  () => sql`select count(*) filter (where enabled = 1 and failing_since is null) as enabled,
      count(*) filter (where enabled = 1 and failing_since is not null) as failing,
      count(*) filter (where enabled = 0) as disabled
    from webhook_endpoints where deleted_at is null`,
)

/**
 * Lists how many rows each follower has still to read. One follower reads attempts, the others read
 * events.
 */
const listLags = statement<{ name: string; lag: number }>(
  () =>
    sql`select name, ${larger(
      sql`case name
      when 'campaign-refusals' then (select coalesce(max(id), 0) from attempts)
      else (select coalesce(max(seq), 0) from events) end - seq`,
      sql`0`,
    )} as lag from event_followers where name in ${listOf([...FOLLOWERS])} order by name`,
)

type WorkCounts = Awaited<ReturnType<typeof countWork>>

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
