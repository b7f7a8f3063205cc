/** Creates, changes and deletes the endpoints of a project, and rotates their secrets. */
import { formatOptionalInstant } from '../../../../base/clock.ts'
import { AppError, invalidField } from '../../../../base/errors.ts'
import type { EndpointRecord } from '../../../../records/webhook-endpoint.ts'
import { eq } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import { type WebhookEndpoint, webhookEndpoints } from '../../../../store/schema/webhooks.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { newestSeq } from '../../../ground/events/followed-rows.ts'
import { newSecret, rotateSecret } from '../signing.ts'
import { disableEndpoint, enqueueClearing, markDeleted } from './disable.ts'
import { type EndpointKey, loadEndpoint, ofProject, toEndpointRecord } from './endpoint.ts'

const MAX_ENDPOINTS = 20
export const MAX_ENDPOINT_URL_LENGTH = 2_048
export const MAX_EVENT_PATTERNS = 50

type NewEndpoint = {
  projectId: string
  /** http or https, without user and password. */
  url: string
  events: string[]
  description?: string | null | undefined
  enabled?: boolean | undefined
}

type CreateDeps = Pick<Base, 'store' | 'keyring' | 'now' | 'webhookClient'>

type EndpointChanges = {
  url?: string | undefined
  events?: string[] | undefined
  description?: string | null | undefined
  enabled?: boolean | undefined
}

type UpdateDeps = Pick<Base, 'store' | 'now' | 'webhookClient' | 'webhookNotifier' | 'jobNotifier'>

type RotatedEndpoint = EndpointRecord & {
  secret: string
  /** Until this time the previous secret signs, too. */
  previousSecretUntil: string | null
}

/**
 * Creates an endpoint, which gets the events from then on. Only this answer and that of a rotation have the secret.
 * @throws AppError VALIDATION_ERROR for a URL that leads to a private address; BAD_REQUEST (too many endpoints)
 */
export async function createEndpoint(
  deps: CreateDeps,
  { projectId, url, events, description = null, enabled = true }: NewEndpoint,
): Promise<EndpointRecord & { secret: string }> {
  refusePrivateUrl(deps, url)
  const { secret, columns } = newSecret(deps)
  const id = newId()
  const at = deps.now()
  return deps.store.write(async (tx) => {
    await refuseTooMany(tx, projectId)
    const afterSeq = await newestSeq(tx, 'events')
    await tx.insert(webhookEndpoints).values({
      ...{ id, projectId, url, events, description, isEnabled: enabled, afterSeq },
      ...{ ...columns, createdAt: at, updatedAt: at },
    })
    return { ...toEndpointRecord(await loadEndpoint(tx, { projectId, id })), secret }
  })
}

/**
 * Changes an endpoint. Disabling it fails its waiting deliveries. Enabling it replays nothing: it gets the events
 * from then on, and its failures no longer count.
 * @throws AppError RESOURCE_NOT_FOUND; VALIDATION_ERROR for a URL that leads to a private address
 */
export async function updateEndpoint(
  deps: UpdateDeps,
  key: EndpointKey,
  { enabled, ...changes }: EndpointChanges,
): Promise<EndpointRecord> {
  if (changes.url !== undefined) refusePrivateUrl(deps, changes.url)
  return deps.store.write(async (tx) => {
    const row = await loadEndpoint(tx, key)
    const mayEnable = enabled === true && !row.isEnabled
    const set = { ...defined(changes), ...(mayEnable ? await enabledColumns(tx) : {}) }
    await tx
      .update(webhookEndpoints)
      .set({ ...set, updatedAt: deps.now() })
      .where(eq(webhookEndpoints.id, row.id))
    // Deliveries to be tried again wait until the job has cleared the old rows. The job is enqueued
    // again, because its earlier run may have failed.
    if (mayEnable && row.failedThrough > 0) await enqueueClearing(deps, tx, key)
    if (enabled === false) await disableEndpoint(deps, tx, { ...key, reason: null })
    const { id: endpointId, projectId } = key
    tx.afterCommit(() => deps.webhookNotifier.notify({ kind: 'changed', endpointId, projectId }))
    return toEndpointRecord(await loadEndpoint(tx, key))
  })
}

async function enabledColumns(tx: Tx): Promise<Partial<WebhookEndpoint>> {
  const afterSeq = await newestSeq(tx, 'events')
  return { isEnabled: true, disabledReason: null, failingSince: null, afterSeq }
}

function defined<T extends object>(changes: T): Partial<T> {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as Partial<T>
}

/**
 * Deletes an endpoint; nothing more is sent to it. A job deletes its deliveries later.
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function deleteEndpoint(
  deps: Pick<Base, 'store' | 'now' | 'webhookNotifier' | 'jobNotifier'>,
  key: EndpointKey,
): Promise<void> {
  await deps.store.write(async (tx) => {
    await loadEndpoint(tx, key)
    await markDeleted(deps, tx, key)
  })
}

/**
 * Gives an endpoint a new secret. For a day both secrets sign, so that no receiver misses an event.
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function rotateEndpointSecret(
  deps: Pick<Base, 'store' | 'keyring' | 'now' | 'webhookNotifier'>,
  key: EndpointKey,
): Promise<RotatedEndpoint> {
  const at = deps.now()
  return deps.store.write(async (tx) => {
    const row = await loadEndpoint(tx, key)
    const { secret, columns } = rotateSecret(deps, row, at)
    const isRow = eq(webhookEndpoints.id, row.id)
    await tx
      .update(webhookEndpoints)
      .set({ ...columns, updatedAt: at })
      .where(isRow)
    const { id: endpointId, projectId } = key
    tx.afterCommit(() => deps.webhookNotifier.notify({ kind: 'changed', endpointId, projectId }))
    const view = toEndpointRecord(await loadEndpoint(tx, key))
    return { ...view, secret, previousSecretUntil: formatOptionalInstant(columns.previousUntil) }
  })
}

async function refuseTooMany(tx: Tx, projectId: string): Promise<void> {
  if ((await tx.$count(webhookEndpoints, ofProject(projectId))) < MAX_ENDPOINTS) return
  throw new AppError('BAD_REQUEST', `A project has at most ${MAX_ENDPOINTS} webhook endpoints.`, {
    suggestion: 'Delete an endpoint that is no longer used.',
    details: { limit: MAX_ENDPOINTS },
  })
}

/**
 * Refuses a URL whose host is an address that must not be connected to: a loopback, private or
 * reserved one. Host names are checked with each request.
 * @throws AppError VALIDATION_ERROR
 */
function refusePrivateUrl({ webhookClient }: Pick<Base, 'webhookClient'>, url: string): void {
  if (webhookClient.mayRequest(new URL(url))) return
  const text = 'Must not lead to a loopback, private or reserved address'
  throw invalidField('url', 'custom', text)
}
