/** Work that waits: received mail, jobs, campaigns, executions, webhooks, and the followers of events. */
import type { Base } from '../../ground/base.ts'
import { byState, type Gauge, type GaugeValue } from './gauge.ts'
import { createRecent, type Recent, type RecentOptions } from './recent.ts'
import { countWork, type WorkCounts } from './work-counts.ts'

type Deps = Pick<Base, 'store' | 'now'>

export function workGauges(deps: Deps, options?: RecentOptions): Gauge[] {
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

function inboundGauges({ now }: Deps, recent: Recent<WorkCounts>): Gauge[] {
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

function jobGauges({ now }: Deps, recent: Recent<WorkCounts>): Gauge[] {
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
