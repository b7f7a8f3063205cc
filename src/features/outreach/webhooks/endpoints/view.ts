/** An endpoint as the API shows it: without its secret, which only its creation and rotation return. */
import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import type { WebhookEndpoint } from '../../../../store/schema/webhooks.ts'

export type EndpointView = {
  id: string
  url: string
  events: string[]
  description: string | null
  enabled: boolean
  /** Why the service disabled it; null if it is enabled, or if a request disabled it. */
  disabledReason: string | null
  failingSince: string | null
  lastSuccessAt: string | null
  projectId: string
  createdAt: string
  updatedAt: string
}

export function toEndpointView(row: WebhookEndpoint): EndpointView {
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
