/**
 * Reads the deliveries that are due at an endpoint: those never tried in the order of events, and
 * in turn with them those to try again, so that neither waits for all of the others.
 */
import type { KeyObject } from 'node:crypto'
import { octets } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { type WebhookEndpoint, webhookEndpoints } from '../../../store/schema/webhooks.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import type { LaneKey, Taken, TakeQuery, Task } from '../dispatch/task-source.ts'
import { openSigningKeys } from '../secrets.ts'
import { isReceivedMail, MAX_RECEIVED_BYTES, readEvents, type WaitingEvent } from './event-rows.ts'

/** A delivery to make. `sent`: undefined if the event was deleted. */
export type DeliveryTask = Task & {
  attempts: number
  eventId: string
  url: string
  keys: readonly KeyObject[]
  sent: WaitingEvent | undefined
}

type Line = {
  number: number
  attempts: number
  eventSeq: number | null
  eventId: string
  bytes: number
}

type Deps = Pick<Base, 'store' | 'keyring' | 'now'>

/** The events of a page; one larger event is a page of its own. */
const PAGE_BYTES = 256 * 1024
/** What a task takes beside its event. */
const TASK_BYTES = 1_024

/** The deliveries of a disabled project wait. */
export const findActiveEndpoint = statement((db) =>
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

const isWaiting = sql`delivery.endpoint_id = ${parameter('id')}
  and delivery.number > ${parameter('failedThrough')}`

export const listFirst = statement<Line>(
  () => sql`select ${line} from ${joined} where ${isWaiting} and delivery.due_at = 0
    order by delivery.number limit ${parameter('limit')}`,
)

export const listRetries = statement<Line>(
  () => sql`select ${line} from ${joined} where ${isWaiting}
      and delivery.due_at > 0 and delivery.due_at <= ${parameter('now')}
    order by delivery.due_at, delivery.number limit ${parameter('limit')}`,
)

export const findNextDue = statement<{ dueAt: number | null }>(
  () => sql`select min(due_at) as "dueAt" from webhook_deliveries as delivery
    where ${isWaiting} and due_at > ${parameter('now')}`,
)

export async function takeDeliveries(
  deps: Deps,
  { key: id }: LaneKey,
  { held, limit, now }: TakeQuery,
): Promise<Taken<DeliveryTask>> {
  const { store } = deps
  const endpoint = await store.read.find(findActiveEndpoint, { id })
  if (endpoint === undefined) return { tasks: [], nextDueAt: null }
  const { failedThrough } = endpoint
  const query = { id, failedThrough, now, limit: limit + held.size + 1 }
  const isFree = ({ number }: Line) => !held.has(number)
  const { now: _, ...first } = query
  const lines = inTurn(
    (await store.read.list(listFirst, first)).filter(isFree),
    (await store.read.list(listRetries, query)).filter(isFree),
  )
  const page = withinBytes(lines.slice(0, limit))
  const tasks = await toTasks(deps, endpoint, page)
  if (page.length < lines.length) return { tasks, nextDueAt: now }
  const next = await store.read.find(findNextDue, { id, failedThrough, now })
  return { tasks, nextDueAt: next?.dueAt ?? null }
}

async function toTasks(
  deps: Deps,
  endpoint: WebhookEndpoint,
  lines: readonly Line[],
): Promise<DeliveryTask[]> {
  if (lines.length === 0) return []
  const events = await readEvents(
    deps,
    lines.flatMap(({ eventSeq }) => eventSeq ?? []),
  )
  const keys = openSigningKeys(deps, endpoint, deps.now())
  return lines.map(({ eventSeq, bytes, ...rest }) => {
    const found = events.get(eventSeq ?? -1)
    // The engine may give the number of a deleted event to a new one.
    const sent = found?.event.id === rest.eventId ? found : undefined
    const isReceived = sent !== undefined && isReceivedMail(sent.event)
    return {
      ...rest,
      ...{ bytes: bytes + TASK_BYTES, url: endpoint.url, keys, sent },
      sentBytes: bytes + (isReceived ? 2 * MAX_RECEIVED_BYTES : 0),
    }
  })
}

/** Alternates between two lists. */
function inTurn<T>(one: readonly T[], other: readonly T[]): T[] {
  const length = Math.max(one.length, other.length)
  return Array.from({ length }, (_, index) => [one[index], other[index]])
    .flat()
    .filter((item) => item !== undefined)
}

function withinBytes(lines: readonly Line[]): Line[] {
  let total = 0
  const end = lines.findIndex(({ bytes }, index) => {
    total += bytes
    return index > 0 && total > PAGE_BYTES
  })
  return lines.slice(0, end === -1 ? lines.length : end)
}
