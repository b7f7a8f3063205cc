/** Creates an endpoint. It gets the events from then on. */
import { AppError, invalidField } from '../../../../base/errors.ts'
import type { EndpointRecord } from '../../../../records/webhook-endpoint.ts'
import { newId } from '../../../../store/ids.ts'
import { webhookEndpoints } from '../../../../store/schema/webhooks.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { newestSeq } from '../../../ground/events/followed-rows.ts'
import { newSecret } from '../secrets.ts'
import { loadEndpoint, ofProject } from './find.ts'
import { toEndpointRecord } from './view.ts'

export const MAX_ENDPOINTS = 20
export const MAX_URL_LENGTH = 2_048
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

/** Returns the only view with the secret, beside that of a rotation. */
export async function createEndpoint(
  deps: CreateDeps,
  { projectId, url, events, description = null, enabled = true }: NewEndpoint,
): Promise<EndpointRecord & { secret: string }> {
  refusePrivateTarget(deps, url)
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
 * Refuses a URL whose host is an address that must not be connected to. Names are checked with each
 * request.
 * @throws AppError VALIDATION_ERROR
 */
export function refusePrivateTarget(
  { webhookClient }: Pick<Base, 'webhookClient'>,
  url: string,
): void {
  if (webhookClient.mayRequest(new URL(url))) return
  const text = 'Must not lead to a loopback, private or reserved address'
  throw invalidField('url', 'custom', text)
}

async function refuseTooMany(tx: Tx, projectId: string): Promise<void> {
  if ((await tx.$count(webhookEndpoints, ofProject(projectId))) < MAX_ENDPOINTS) return
  throw new AppError('BAD_REQUEST', `A project has at most ${MAX_ENDPOINTS} webhook endpoints.`, {
    suggestion: 'Delete an endpoint that is no longer used.',
    details: { limit: MAX_ENDPOINTS },
  })
}
