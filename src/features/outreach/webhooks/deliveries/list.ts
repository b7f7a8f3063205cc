/**
 * Lists the deliveries of an endpoint, newest first. Each status is a range of an index, so the cost
 * depends on the page, not on the number of deliveries.
 */
import { unknownCursor } from '../../../../base/errors.ts'
import { sealCursor, unsealCursor } from '../../../../records/cursor.ts'
import type { DeliveryRecord } from '../../../../records/webhook-delivery.ts'
import { WEBHOOK_STATUSES } from '../../../../records/words.ts'
import { indexedBy } from '../../../../store/dialect.ts'
import { and, eq, type SQL, sql } from '../../../../store/drizzle.ts'
import { isUuid } from '../../../../store/ids.ts'
import { type WebhookDelivery, webhookDeliveries } from '../../../../store/schema/webhooks.ts'
import type { WebhookStatus } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { findFence } from '../../../ground/fence/rows.ts'
import {
  addCounts,
  type CountedEnd,
  countStretches,
  type RowCount,
  withTotal,
} from '../../../ground/list-totals.ts'
import { type Listing, pageListing } from '../../../ground/listing.ts'
import { type EndpointKey, loadEndpoint } from '../endpoints/find.ts'
import { toDeliveryRecord } from './view.ts'

type DeliveryQuery = {
  status?: WebhookStatus | undefined
  /** The cursor of an earlier page, or the id of its last delivery. */
  cursor?: string | undefined
  limit: number
}

type Deps = Pick<Base, 'store' | 'keyring' | 'listTotals'>

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

export const countOfStatus = statement<{ count: number }>(
  () => sql`${rowsOfStatus(sql`count(*) as count`)} and number >= ${parameter('from')}`,
)

export const findEndOfStatus = statement<{ number: number }>(
  () => sql`${rowsOfStatus(sql`number`)}
    order by number desc limit 1 offset ${parameter('offset')}`,
)

/** @throws AppError RESOURCE_NOT_FOUND; VALIDATION_ERROR for an invalid cursor */
export async function listDeliveries(
  deps: Deps,
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
  // The others were ended with their endpoint.
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
    return addCounts(deps, await Promise.all(counts))
  }
  const whole = last === undefined ? lines.filter(isShown).length : undefined
  const query = { list: 'deliveries', id: key.id, status }
  return withTotal(deps, { page, cursor, whole, query, count })
}

type CountedRange = { endpointId: string; status: WebhookStatus; from: number }

function countStatus(
  { store, listTotals: { stretch } }: Deps,
  { from, ...range }: CountedRange,
): Promise<RowCount> {
  return countStretches<number>(async (before = Number.MAX_SAFE_INTEGER) => {
    const end = await store.scan.find(findEndOfStatus, { ...range, before, offset: stretch - 1 })
    const least = Math.max(from, end?.number ?? 0)
    const counted = await store.scan.find(countOfStatus, { ...range, before, from: least })
    return { count: counted?.count ?? 0, end: least === end?.number ? least : undefined }
  })
}

async function findPlace(deps: Deps, endpointId: string, cursor?: string): Promise<number> {
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
