/**
 * Lists the deliveries of an endpoint, newest first. Each status is a range of an index, so the cost
 * depends on the page, not on the number of deliveries.
 */
import { unknownCursor } from '../../../errors.ts'
import { and, eq, sql } from '../../../store/drizzle.ts'
import { isUuid } from '../../../store/ids.ts'
import { type WebhookDelivery, webhookDeliveries } from '../../../store/schema/webhooks.ts'
import type { WebhookStatus } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import { findFence } from '../../fence/rows.ts'
import { type Listing, type PageEnd, pageListing } from '../../listing.ts'
import { sealCursor, unsealCursor } from '../../sealed-cursor.ts'
import { type EndpointKey, loadEndpoint } from '../endpoints/find.ts'
import { type DeliveryView, toDeliveryView, WEBHOOK_STATUSES } from './view.ts'

type DeliveryQuery = {
  status?: WebhookStatus | undefined
  /** The cursor of an earlier page, or the id of its last delivery. */
  cursor?: string | undefined
  limit: number
}

type Deps = Pick<Base, 'store' | 'keyring'>

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

/** @throws AppError RESOURCE_NOT_FOUND; VALIDATION_ERROR for an invalid cursor */
export async function listDeliveries(
  deps: Deps,
  key: EndpointKey,
  { status, cursor, limit }: DeliveryQuery,
): Promise<Listing<DeliveryView, PageEnd>> {
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
  return pageListing({
    lines,
    async read(slice) {
      const views = slice.map((row) => toDeliveryView(row, { ...endpoint, fencedThrough }))
      const isShown = (view: DeliveryView) => status !== 'PENDING' || view.status === status
      return views.map((view) => (isShown(view) ? view : undefined))
    },
    cursorOf,
    endCursor: last === undefined ? null : cursorOf(last),
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
