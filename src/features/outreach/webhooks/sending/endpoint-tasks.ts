/**
 * Reads the due deliveries of an endpoint. Deliveries that were never tried come in the order of
 * events, and alternate with those to be tried again, so that neither kind waits for all of the
 * other. While rows of an earlier disabling are still to be cleared (`failed_through`), only
 * deliveries that were never tried are read, because the index finds them behind those rows;
 * deliveries to be tried again wait for the job. Fenced deliveries are passed over. Those to be tried
 * again get the due time 0, which deliveries have that were never tried: the index orders these by
 * number, so a read that begins behind the fence does not meet the fenced ones.
 */
import type { KeyObject } from 'node:crypto'
import { SECOND_MS } from '../../../../base/clock.ts'
import { octets, unseen } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { type WebhookEndpoint, webhookEndpoints } from '../../../../store/schema/webhooks.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { type SweepPace, sweep } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { findFence } from '../../../ground/fence/rows.ts'
import {
  inTurn,
  type RequestTask,
  type TakenTasks,
  type TakeQuery,
  type TaskKey,
} from '../dispatch/tasks.ts'
import { openSigningKeys } from '../signing.ts'
import { isReceivedMail, MAX_RECEIVED_BYTES, readEvents, type WaitingEvent } from './event-rows.ts'

/** A delivery to make. `sent`: undefined if the event was deleted. */
export type EndpointTask = RequestTask & {
  attempts: number
  projectId: string
  eventId: string
  url: URL
  keys: readonly KeyObject[]
  sent: WaitingEvent | undefined
}

type DueDelivery = {
  number: number
  attempts: number
  eventSeq: number | null
  eventId: string
  bytes: number
}

type Deps = Pick<Base, 'store' | 'keyring' | 'now'>

/** The most bytes of the events of a page; a larger event is a page of its own. */
const PAGE_BYTES = 256 * 1024
/** The memory of a task beside its event. */
const TASK_BYTES = 1_024
/** At most this many fenced deliveries are passed over in one transaction. */
const MAX_PASSED = 500
const PASSING: SweepPace = { rows: MAX_PASSED, rest: 'none' }
/** How often the dispatcher looks whether the rows of an endpoint are cleared. */
const CLEARING_MS = SECOND_MS

/** Finds the endpoint if it may send. The deliveries of a disabled project wait. */
const findActiveEndpoint = statement((db) =>
  db
    .select()
    .from(webhookEndpoints)
    .where(
      sql`${webhookEndpoints.id} = ${parameter('id')} and ${webhookEndpoints.isEnabled}
        and ${webhookEndpoints.deletedAt} is null
        and ${webhookEndpoints.projectId} in (select id from projects where not is_disabled)`,
    ),
)

const line = sql`delivery.number, delivery.attempts, delivery.event_seq as "eventSeq",
  delivery.event_id as "eventId", coalesce(${octets(sql`event.data`)}, 0) as bytes`

const joined = sql`webhook_deliveries as delivery
  left join events as event on event.seq = delivery.event_seq`

const isOfEndpoint = sql`delivery.endpoint_id = ${unseen(parameter('id'))}`

export const listFirstDeliveries = statement<DueDelivery>(
  () => sql`select ${line} from ${joined} where ${isOfEndpoint} and delivery.due_at = 0
      and delivery.number > ${parameter('after')}
    order by delivery.number limit ${unseen(parameter('limit'))}`,
)

export const listDeliveryRetries = statement<DueDelivery>(
  () => sql`select ${line} from ${joined} where ${isOfEndpoint}
      and delivery.due_at > 0 and delivery.due_at <= ${parameter('now')}
      and delivery.number > ${parameter('fenced')}
    order by delivery.due_at, delivery.number limit ${unseen(parameter('limit'))}`,
)

export const findNextDueDelivery = statement<{ dueAt: number | null }>(
  () => sql`select min(due_at) as "dueAt" from webhook_deliveries as delivery
    where ${isOfEndpoint} and due_at > ${parameter('now')}`,
)

const isFencedDue = sql`endpoint_id = ${parameter('id')} and due_at > 0 and due_at <= ${parameter('now')}
  and number <= ${parameter('fenced')}`

const findFenced = statement<{ found: number }>(
  () => sql`select 1 as found from webhook_deliveries where ${isFencedDue} limit 1`,
)

const passOver = statement(
  () => sql`update webhook_deliveries set due_at = 0 where number in (
    select number from webhook_deliveries where ${isFencedDue} limit ${MAX_PASSED})`,
)

export async function takeDeliveries(
  deps: Deps,
  { id, projectId }: TaskKey,
  { taken, limit, now }: TakeQuery,
): Promise<TakenTasks<EndpointTask>> {
  const { store } = deps
  const endpoint = await store.read.find(findActiveEndpoint, { id })
  if (endpoint === undefined) return { tasks: [], nextDueAt: null }
  const { failedThrough } = endpoint
  const isClearing = failedThrough > 0
  const fenced = (await findFence(store.read, projectId))?.deliveryNumber ?? 0
  if (fenced > 0) await passOverFenced(store, { id, now, fenced })
  const query = { id, fenced, limit: limit + taken.size + 1 }
  const after = Math.max(failedThrough, fenced)
  const isFree = ({ number }: DueDelivery) => !taken.has(number)
  const first = await store.read.list(listFirstDeliveries, { ...query, after })
  const retries = isClearing ? [] : await store.read.list(listDeliveryRetries, { ...query, now })
  const lines = inTurn(first.filter(isFree), retries.filter(isFree))
  const page = withinBytes(lines.slice(0, limit))
  const tasks = await toTasks(deps, endpoint, page)
  if (page.length < lines.length) return { tasks, nextDueAt: now }
  if (isClearing) return { tasks, nextDueAt: now + CLEARING_MS }
  const next = await store.read.find(findNextDueDelivery, { id, now })
  return { tasks, nextDueAt: next?.dueAt ?? null }
}

/** Passes over fenced deliveries until none of them is due any more in front of the others. */
async function passOverFenced(
  store: Deps['store'],
  fence: { id: string; now: number; fenced: number },
): Promise<void> {
  const until = async () => (await store.read.find(findFenced, fence)) === undefined
  const rules = { pace: PASSING, heavyFor: undefined, until }
  await sweep({ store }, rules, (tx) => tx.execute(passOver, fence))
}

async function toTasks(
  deps: Deps,
  endpoint: WebhookEndpoint,
  lines: readonly DueDelivery[],
): Promise<EndpointTask[]> {
  if (lines.length === 0) return []
  const events = await readEvents(
    deps,
    lines.flatMap(({ eventSeq }) => eventSeq ?? []),
  )
  const keys = openSigningKeys(deps, endpoint, deps.now())
  const url = new URL(endpoint.url)
  return lines.map(({ eventSeq, bytes, ...rest }) => {
    const found = events.get(eventSeq ?? -1)
    // The database may give the number of a deleted event to a new event, so the id decides.
    const sent = found?.event.id === rest.eventId ? found : undefined
    const isReceived = sent !== undefined && isReceivedMail(sent.event)
    return {
      ...rest,
      ...{ bytes: bytes + TASK_BYTES, url, keys, sent },
      projectId: endpoint.projectId,
      sentBytes: bytes + (isReceived ? 2 * MAX_RECEIVED_BYTES : 0),
    }
  })
}

function withinBytes(lines: readonly DueDelivery[]): DueDelivery[] {
  let total = 0
  const end = lines.findIndex(({ bytes }, index) => {
    total += bytes
    return index > 0 && total > PAGE_BYTES
  })
  return lines.slice(0, end === -1 ? lines.length : end)
}
