/** An endpoint as the API shows it: without its secret, which only its creation and rotation return. */
import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import type { EndpointRecord } from '../../../../records/webhook-endpoint.ts'
import type { WebhookEndpoint } from '../../../../store/schema/webhooks.ts'

export function toEndpointRecord(row: WebhookEndpoint): EndpointRecord {
  const { id, url, events, description, projectId } = row
  return {
    ...{ id, url, events, description },
    enabled: row.isEnabled,
    disabledReason: row.disabledReason,
    failingSince: formatOptionalInstant(row.failingSince),
    lastSuccessAt: formatOptionalInstant(row.lastSuccessAt),
    projectId,
    createdAt: formatInstant(row.createdAt),
    updatedAt: formatInstant(row.updatedAt),
  }
}
