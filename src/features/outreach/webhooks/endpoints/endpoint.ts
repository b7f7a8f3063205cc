/**
 * The endpoints of a project: finds and lists them, and turns a row into the record of the API.
 * Deleted endpoints, and those of other projects, count as unknown.
 */
import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import { type AppError, notFound } from '../../../../base/errors.ts'
import type { EndpointRecord } from '../../../../records/webhook-endpoint.ts'
import { and, asc, eq, isNull, type SQL } from '../../../../store/drizzle.ts'
import { type WebhookEndpoint, webhookEndpoints } from '../../../../store/schema/webhooks.ts'
import type { Queries } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'

export type EndpointKey = { projectId: string; id: string }

/** @throws AppError RESOURCE_NOT_FOUND */
export async function loadEndpoint(queries: Queries, key: EndpointKey): Promise<WebhookEndpoint> {
  const row = await queries.select().from(webhookEndpoints).where(isEndpoint(key)).get()
  if (row === undefined) throw endpointNotFound(key.id)
  return row
}

/** Returns an endpoint as the API shows it. @throws AppError RESOURCE_NOT_FOUND */
export async function loadEndpointRecord(
  { store }: Pick<Base, 'store'>,
  key: EndpointKey,
): Promise<EndpointRecord> {
  return toEndpointRecord(await loadEndpoint(store.read, key))
}

/** Lists the endpoints of a project, oldest first. */
export async function listEndpoints(
  { store }: Pick<Base, 'store'>,
  projectId: string,
): Promise<{ data: EndpointRecord[]; total: number }> {
  const rows = await store.read
    .select()
    .from(webhookEndpoints)
    .where(ofProject(projectId))
    .orderBy(asc(webhookEndpoints.createdAt), asc(webhookEndpoints.id))
    .all()
  return { data: rows.map(toEndpointRecord), total: rows.length }
}

function isEndpoint({ projectId, id }: EndpointKey): SQL | undefined {
  return and(eq(webhookEndpoints.id, id), ofProject(projectId))
}

export function ofProject(projectId: string): SQL | undefined {
  return and(eq(webhookEndpoints.projectId, projectId), isNull(webhookEndpoints.deletedAt))
}

function endpointNotFound(id: string): AppError {
  return notFound('webhook endpoint', id, 'No webhook endpoint of this project has that id.')
}

/** Returns an endpoint as the API shows it: without its secret, which only its creation and rotation return. */
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
