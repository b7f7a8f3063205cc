/**
 * The follower that makes the deliveries of events: a row for each endpoint that wants the event, in the
 * order of events, and nothing else. A batch of events costs one look at the endpoints of its
 * projects.
 */
import { listOf } from '../../store/dialect.ts'
import { asc, gt, sql } from '../../store/drizzle.ts'
import { type EventRow, events } from '../../store/schema/events.ts'
import { type WebhookEndpoint, webhookEndpoints } from '../../store/schema/webhooks.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { EVENTS, type FollowedRows, type Follower, startFollower } from '../events/follow.ts'
import { insertDeliveries } from './deliveries/insert.ts'
import { createEventMatcher } from './event-patterns.ts'

type FollowDeps = Pick<Base, 'store' | 'log' | 'now' | 'webhookNotifier'>

/** An event without its data. */
export type FollowedEvent = Pick<EventRow, 'seq' | 'id' | 'projectId' | 'name'>

type Matcher = Pick<WebhookEndpoint, 'id' | 'projectId' | 'afterSeq'> & {
  matches(name: string): boolean
}

/** With 20 endpoints it makes 2,000 rows at most, which takes about 20 ms. */
const BATCH = 100
const LINGER_MS = 20

const rows: FollowedRows<FollowedEvent> = {
  newest: EVENTS.newest,
  listAfter: statement((db) =>
    db
      .select({ seq: events.seq, id: events.id, projectId: events.projectId, name: events.name })
      .from(events)
      .where(gt(events.seq, parameter('seq')))
      .orderBy(asc(events.seq))
      .limit(parameter('limit')),
  ),
}

const listEndpoints = statement((db) =>
  db
    .select({
      id: webhookEndpoints.id,
      projectId: webhookEndpoints.projectId,
      events: webhookEndpoints.events,
      afterSeq: webhookEndpoints.afterSeq,
    })
    .from(webhookEndpoints)
    .where(
      sql`${webhookEndpoints.projectId} in ${listOf(parameter('projectIds'))}
        and ${webhookEndpoints.isEnabled} and ${webhookEndpoints.deletedAt} is null`,
    )
    .orderBy(asc(webhookEndpoints.createdAt), asc(webhookEndpoints.id)),
)

export function startWebhookFollower(deps: FollowDeps): Follower {
  return startFollower(deps, {
    ...{ rows, name: 'webhooks', batch: BATCH, lingerMs: LINGER_MS, beginsAt: 'newest' },
    handle: (tx, batch) => makeDeliveries(deps, tx, batch),
  })
}

async function makeDeliveries(
  { now, webhookNotifier }: FollowDeps,
  tx: Tx,
  batch: readonly FollowedEvent[],
): Promise<void> {
  const projectIds = JSON.stringify([...new Set(batch.map(({ projectId }) => projectId))])
  const endpoints = (await tx.list(listEndpoints, { projectIds })).map(toMatcher)
  if (endpoints.length === 0) return
  const made = batch.flatMap((event) =>
    endpoints.filter((endpoint) => wants(endpoint, event)).map((endpoint) => ({ endpoint, event })),
  )
  await insertDeliveries(
    tx,
    made.map(({ endpoint, event }) => ({ endpointId: endpoint.id, event })),
    now(),
  )
  const due = new Set(made.map(({ endpoint }) => endpoint))
  tx.afterCommit(() => {
    for (const { id: endpointId, projectId } of due)
      webhookNotifier.notify({ kind: 'due', endpointId, projectId })
  })
}

function toMatcher({
  events: patterns,
  ...endpoint
}: Omit<Matcher, 'matches'> & Pick<WebhookEndpoint, 'events'>): Matcher {
  return { ...endpoint, matches: createEventMatcher(patterns) }
}

function wants(endpoint: Matcher, { projectId, name, seq }: FollowedEvent): boolean {
  return endpoint.projectId === projectId && seq > endpoint.afterSeq && endpoint.matches(name)
}
