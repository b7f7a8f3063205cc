/** A delivery as the API shows it. */
import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import type { WebhookDelivery, WebhookEndpoint } from '../../../../store/schema/webhooks.ts'
import type { WebhookStatus } from '../../../../store/schema/words.ts'
import { ENDPOINT_DISABLED } from '../endpoints/disable.ts'

export type DeliveryView = {
  id: string
  endpointId: string
  /** The `webhook-id` of all attempts. */
  eventId: string
  event: string
  status: WebhookStatus
  attempts: number
  /** The status, the error, the beginning of the response and the time of the last attempt. */
  statusCode: number | null
  error: string | null
  response: string | null
  durationMs: number | null
  createdAt: string
  lastAttemptAt: string | null
  nextAttemptAt: string | null
  completedAt: string | null
  /** A fence holds the delivery: the database was brought back from a copy. */
  heldReason: 'restored' | null
}

export const WEBHOOK_STATUSES: readonly WebhookStatus[] = ['PENDING', 'SUCCEEDED', 'FAILED']

export function toDeliveryView(
  row: WebhookDelivery,
  endpoint: Pick<WebhookEndpoint, 'failedThrough'> & { fencedThrough?: number | undefined },
): DeliveryView {
  const { id, endpointId, eventId, attempts, statusCode, response, durationMs, dueAt } = row
  // The row does not say yet that its endpoint was disabled.
  const isEnded = row.status === 'PENDING' && row.number <= endpoint.failedThrough
  const isHeld = dueAt !== null && !isEnded && row.number <= (endpoint.fencedThrough ?? 0)
  const isWaiting = dueAt !== null && !isEnded && !isHeld
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
    heldReason: isHeld ? 'restored' : null,
  }
}
