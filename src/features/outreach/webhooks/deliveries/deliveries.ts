/**
 * The deliveries of endpoints: inserts and lists their rows, turns a row into the record of the
 * API, and deletes old ones. The list is newest first. Each status is a range of an index, so the
 * cost depends on the page, not on the number of deliveries. Successes are deleted after 7 days,
 * failures after 30.
 */
import { DAY_MS, formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import { unknownCursor } from '../../../../base/errors.ts'
import { sealCursor, unsealCursor } from '../../../../records/cursor.ts'
import type { DeliveryRecord } from '../../../../records/webhook-delivery.ts'
import { WEBHOOK_STATUSES } from '../../../../records/words.ts'
import { indexedBy, listOf } from '../../../../store/dialect.ts'
import { and, eq, type SQL, sql } from '../../../../store/drizzle.ts'
import { isUuid, newId } from '../../../../store/ids.ts'
import type { EventRow } from '../../../../store/schema/events.ts'
import {
  type WebhookDelivery,
  type WebhookEndpoint,
  webhookDeliveries,
} from '../../../../store/schema/webhooks.ts'
import type { WebhookStatus } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { type SweepPace, sweepPages } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { findFence } from '../../../ground/fence/rows.ts'
import {
  addRowCounts,
  type CountedEnd,
  countStretches,
  type RowCount,
  withTotal,
} from '../../../ground/list-totals.ts'
import { type Listing, pageListing } from '../../../ground/listing.ts'
import { ENDPOINT_DISABLED } from '../endpoints/disable.ts'
import { type EndpointKey, loadEndpoint } from '../endpoints/endpoint.ts'

type DeliveryQuery = {
  status?: WebhookStatus | undefined
  /** The cursor of an earlier page, or the id of its last delivery. */
  cursor?: string | undefined
  limit: number
}

type ListDeps = Pick<Base, 'store' | 'keyring' | 'listTotals'>

export const listOfStatus = statement((db) =>
  db
    .select()
    .from(webhookDeliveries)
    .where(
      sql`${webhookDeliveries.endpointId} = ${parameter('endpointId')}
        and ${webhookDeliveries.status} = ${parameter('status')}
        and ${webhookDeliveries.number} < ${parameter('before')}`,
    )
    .orderBy(sql`${webhookDeliveries.number} desc`)
    .limit(parameter('limit')),
)

const rowsOfStatus = (columns: SQL) => sql`select ${columns}
  from webhook_deliveries ${indexedBy('webhook_deliveries_status')}
  where endpoint_id = ${parameter('endpointId')} and status = ${parameter('status')}
    and number < ${parameter('before')}`

const countOfStatus = statement<{ count: number }>(
  () => sql`${rowsOfStatus(sql`count(*) as count`)} and number >= ${parameter('from')}`,
)

const findEndOfDeliveryStatus = statement<{ number: number }>(
  () => sql`${rowsOfStatus(sql`number`)}
    order by number desc limit 1 offset ${parameter('offset')}`,
)

type CountedRange = { endpointId: string; status: WebhookStatus; from: number }

type DeliveredEvent = Pick<EventRow, 'seq' | 'id' | 'name'>

const insertDelivery = statement((db) =>
  db.insert(webhookDeliveries).values({
    id: parameter('id'),
    endpointId: parameter('endpointId'),
    eventSeq: parameter('eventSeq'),
    eventId: parameter('eventId'),
    eventName: parameter('eventName'),
    status: 'PENDING',
    dueAt: 0,
    createdAt: parameter('at'),
  }),
)

/** @throws AppError RESOURCE_NOT_FOUND; VALIDATION_ERROR for an invalid cursor */
export async function listDeliveries(
  deps: ListDeps,
  key: EndpointKey,
  { status, cursor, limit }: DeliveryQuery,
): Promise<Listing<DeliveryRecord, CountedEnd>> {
  const { store } = deps
  const endpoint = await loadEndpoint(store.read, key)
  const before = await findPlace(deps, key.id, cursor)
  const statuses = status === undefined ? WEBHOOK_STATUSES : [status]
  const lists = await Promise.all(
    statuses.map((each) =>
      store.scan.list(listOfStatus, {
        ...{ endpointId: key.id, status: each, before, limit: limit + 1 },
      }),
    ),
  )
  const rows = lists.flat().sort((one, other) => other.number - one.number)
  const lines = rows.slice(0, limit)
  const last = rows.length > limit ? lines.at(-1) : undefined
  const fencedThrough = (await findFence(store.read, key.projectId))?.deliveryNumber
  const cursorOf = (row: WebhookDelivery) =>
    sealCursor(deps, 'webhooks', [row.endpointId, row.number])
  // Rows up to `failedThrough` ended when their endpoint was disabled.
  const isShown = ({ number }: WebhookDelivery) =>
    status !== 'PENDING' || number > endpoint.failedThrough
  const page = pageListing({
    lines,
    async read(slice) {
      return slice.map((row) =>
        isShown(row) ? toDeliveryRecord(row, { ...endpoint, fencedThrough }) : undefined,
      )
    },
    cursorOf,
    endCursor: last === undefined ? null : cursorOf(last),
  })
  const from = status === 'PENDING' ? endpoint.failedThrough + 1 : 0
  const count = async () => {
    const counts = statuses.map((each) =>
      countStatus(deps, { endpointId: key.id, status: each, from }),
    )
    return addRowCounts(deps, await Promise.all(counts))
  }
  const whole = last === undefined ? lines.filter(isShown).length : undefined
  const query = { list: 'deliveries', id: key.id, status }
  return withTotal(deps, { page, cursor, whole, query, count })
}

function countStatus(
  { store, listTotals: { stretch } }: ListDeps,
  { from, ...range }: CountedRange,
): Promise<RowCount> {
  return countStretches<number>(async (before = Number.MAX_SAFE_INTEGER) => {
    const end = await store.scan.find(findEndOfDeliveryStatus, {
      ...range,
      before,
      offset: stretch - 1,
    })
    const least = Math.max(from, end?.number ?? 0)
    const counted = await store.scan.find(countOfStatus, { ...range, before, from: least })
    return { count: counted?.count ?? 0, end: least === end?.number ? least : undefined }
  })
}

async function findPlace(deps: ListDeps, endpointId: string, cursor?: string): Promise<number> {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER
  if (isUuid(cursor)) {
    const isIt = and(eq(webhookDeliveries.id, cursor), eq(webhookDeliveries.endpointId, endpointId))
    const row = await deps.store.read.select().from(webhookDeliveries).where(isIt).get()
    if (row !== undefined) return row.number
    throw unknownCursor()
  }
  const [endpoint, number] = unsealCursor(deps, 'webhooks', cursor) as [string, number]
  if (endpoint !== endpointId) throw unknownCursor()
  return number
}

/**
 * Returns a delivery as the API shows it. `endpoint`: includes the fence of its project, if there
 * is one.
 */
export function toDeliveryRecord(
  row: WebhookDelivery,
  endpoint: Pick<WebhookEndpoint, 'failedThrough'> & { fencedThrough?: number | undefined },
): DeliveryRecord {
  const { id, endpointId, eventId, attempts, statusCode, response, durationMs, dueAt } = row
  // Such a delivery ended when its endpoint was disabled; a job writes that into the row later.
  const isEnded = row.status === 'PENDING' && row.number <= endpoint.failedThrough
  const isFenced = dueAt !== null && !isEnded && row.number <= (endpoint.fencedThrough ?? 0)
  const isWaiting = dueAt !== null && !isEnded && !isFenced
  return {
    ...{ id, endpointId, eventId },
    event: row.eventName,
    status: isEnded ? 'FAILED' : row.status,
    attempts,
    statusCode,
    error: isEnded ? ENDPOINT_DISABLED : row.error,
    ...{ response, durationMs },
    createdAt: formatInstant(row.createdAt),
    lastAttemptAt: formatOptionalInstant(row.lastAttemptAt),
    nextAttemptAt: isWaiting ? formatInstant(dueAt || row.lastAttemptAt || row.createdAt) : null,
    completedAt: formatOptionalInstant(row.completedAt),
    heldReason: isFenced ? 'restored' : null,
  }
}

/** Inserts a row for each delivery; the rows are sent in this order. Returns their ids. */
export async function insertDeliveries(
  tx: Tx,
  deliveries: readonly { endpointId: string; event: DeliveredEvent }[],
  at: number,
): Promise<string[]> {
  const made = deliveries.map(({ endpointId, event }) => ({
    ...{ id: newId(), endpointId, at },
    ...{ eventSeq: event.seq, eventId: event.id, eventName: event.name },
  }))
  await tx.insertRows(insertDelivery, made)
  return made.map(({ id }) => id)
}

const SUCCESS_MS = 7 * DAY_MS
const FAILURE_MS = 30 * DAY_MS
const PAGE = 2_000
const PACE: SweepPace = { rows: 200, rest: 'event loop' }

type Aged = { number: number; status: WebhookStatus; createdAt: number; completedAt: number | null }

/** Lists deliveries in the order of their numbers, which is that of their creation. */
export const listAgedDeliveries = statement<Aged>(
  () => sql`select number, status, created_at as "createdAt", completed_at as "completedAt"
    from webhook_deliveries where number > ${parameter('after')} order by number limit ${PAGE}`,
)

const deleteRows = statement(
  () => sql`delete from webhook_deliveries where number in ${listOf(parameter('numbers'))}`,
)

/** Returns the number of deleted rows. */
export async function deleteExpiredDeliveries(
  deps: Pick<Base, 'store' | 'now'>,
  signal?: AbortSignal,
): Promise<number> {
  return sweepPages<number, number>(
    deps,
    { pace: PACE, heavyFor: 'retention', signal },
    {
      from: 0,
      pages: listExpired(deps),
      change: async (tx, numbers, total) =>
        total + (await tx.execute(deleteRows, { numbers: JSON.stringify(numbers) })),
    },
  )
}

/** Yields the numbers of expired deliveries, page by page; pages may be empty. */
async function* listExpired({ store, now }: Pick<Base, 'store' | 'now'>): AsyncGenerator<number[]> {
  const at = now()
  let after = 0
  for (;;) {
    const page = await store.scan.list(listAgedDeliveries, { after })
    yield page.filter((row) => isExpired(row, at)).map(({ number }) => number)
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE || last.createdAt > at - SUCCESS_MS) return
    after = last.number
  }
}

function isExpired({ status, completedAt }: Aged, at: number): boolean {
  if (completedAt === null || status === 'PENDING') return false
  return completedAt < at - (status === 'SUCCEEDED' ? SUCCESS_MS : FAILURE_MS)
}
