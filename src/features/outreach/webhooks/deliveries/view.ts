/** A delivery as the API shows it. */
import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import type { DeliveryRecord } from '../../../../records/webhook-delivery.ts'
import type { WebhookDelivery, WebhookEndpoint } from '../../../../store/schema/webhooks.ts'
import { ENDPOINT_DISABLED } from '../endpoints/disable.ts'

export function toDeliveryRecord(
  row: WebhookDelivery,
  endpoint: Pick<WebhookEndpoint, 'failedThrough'> & { fencedThrough?: number | undefined },
): DeliveryRecord {
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
