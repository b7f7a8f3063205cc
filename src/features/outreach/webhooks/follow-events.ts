/**
 * The handler of events that makes deliveries: it inserts a row for each endpoint that wants an
 * event, in the order of events, and does nothing else. A batch of events costs one look at the
 * endpoints of its projects, and one comparison for each name in a project. A transaction makes 500
 * rows at most.
 */
import { listOf } from '../../../store/dialect.ts'
import { asc, sql } from '../../../store/drizzle.ts'
import type { EventRow } from '../../../store/schema/events.ts'
import { type WebhookEndpoint, webhookEndpoints } from '../../../store/schema/webhooks.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { whileAny } from '../../../work/follower-handlers.ts'
import type { Base } from '../../ground/base.ts'
import type { UrgentEvent, UrgentHandler } from '../../ground/event-handlers.ts'
import { raiseDeliveries, splitAtFence } from '../../ground/fence/rows.ts'
import { insertDeliveries } from './deliveries/deliveries.ts'
import { createEventMatcher } from './event-patterns.ts'

type HandlerDeps = Pick<Base, 'now' | 'webhookNotifier'>

/** An event without its data. */
type FollowedEvent = Pick<EventRow, 'seq' | 'id' | 'projectId' | 'name'>

type Matcher = Pick<WebhookEndpoint, 'id' | 'projectId' | 'afterSeq'> & {
  matches(name: string): boolean
}

/**
 * The most rows of one transaction, which take about 10 ms. One event makes at most as many rows as
 * its project has endpoints.
 */
export const MAX_DELIVERY_ROWS = 500

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

const findEnabled = statement<{ found: number }>(
  () => sql`select 1 as found from webhook_endpoints where enabled and deleted_at is null limit 1`,
)

export function webhookHandler(deps: HandlerDeps): UrgentHandler {
  return {
    name: 'webhooks',
    beginsAt: 'newest',
    // While no endpoint is enabled, events need not be read: an endpoint gets only events from
    // after it was enabled.
    mayMatter: whileAny(findEnabled),
    handle: (tx, batch, endAt) => makeDeliveries(deps, tx, { batch, endAt }),
  }
}

type EndpointBatch = { batch: readonly UrgentEvent[]; endAt: (event: UrgentEvent) => void }
type Made = { endpoint: Matcher; event: FollowedEvent }

async function makeDeliveries(
  { now, webhookNotifier }: HandlerDeps,
  tx: Tx,
  { batch: all, endAt }: EndpointBatch,
): Promise<void> {
  const projectIds = JSON.stringify([...new Set(all.map(({ projectId }) => projectId))])
  const endpoints = (await tx.list(listEndpoints, { projectIds })).map(toMatcher)
  if (endpoints.length === 0) return
  const { events: batch, isOld } = await splitAtFence(tx, all)
  const end = batch.at(-1)
  if (end !== undefined && batch.length < all.length) endAt(end)
  const wanting = createWanting(endpoints)
  const made: Made[] = []
  let last: UrgentEvent | undefined
  for (const event of batch) {
    const own = wanting(event)
    if (made.length > 0 && made.length + own.length > MAX_DELIVERY_ROWS) break
    for (const endpoint of own) made.push({ endpoint, event })
    last = event
  }
  if (last !== undefined) endAt(last)
  await insertDeliveries(
    tx,
    made.map(({ endpoint, event }) => ({ endpointId: endpoint.id, event })),
    now(),
  )
  if (isOld) {
    await raiseDeliveries(
      tx,
      made.map(({ event }) => event),
    )
  }
  const due = new Set(made.map(({ endpoint }) => endpoint))
  tx.afterCommit(() => {
    for (const { id: endpointId, projectId } of due)
      webhookNotifier.notify({ kind: 'due', endpointId, projectId })
  })
}

/** Returns the endpoints that want an event. */
function createWanting(endpoints: readonly Matcher[]): (event: FollowedEvent) => Matcher[] {
  const byProject = Map.groupBy(endpoints, ({ projectId }) => projectId)
  const byName = new Map<string, Matcher[]>()
  return ({ projectId, name, seq }) => {
    const key = `${projectId} ${name}`
    const found =
      byName.get(key) ?? (byProject.get(projectId) ?? []).filter(({ matches }) => matches(name))
    byName.set(key, found)
    return found.filter(({ afterSeq }) => seq > afterSeq)
  }
}

function toMatcher({
  events: patterns,
  ...endpoint
}: Omit<Matcher, 'matches'> & Pick<WebhookEndpoint, 'events'>): Matcher {
  return { ...endpoint, matches: createEventMatcher(patterns) }
}
