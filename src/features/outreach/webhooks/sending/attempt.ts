/**
 * One attempt of a delivery, and what it leads to:
 *
 *   2xx                      SUCCEEDED
 *   anything else            tried again after 5 s, 1 m, 5 m, 30 m, 2 h, 5 h, 10 h, 24 h, or when the
 *                            server asks (Retry-After); FAILED after the last attempt
 *   410                      the same, and the endpoint is disabled
 *   a URL not allowed        FAILED at once
 *   the event is deleted     FAILED at once, without a request
 */
import type { KeyObject } from 'node:crypto'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../base/clock.ts'
import type { HttpResult } from '../../../../outbound/http/client.ts'
import type { WebhookStatus } from '../../../../store/schema/words.ts'
import type { Base } from '../../../ground/base.ts'
import { findFence } from '../../../ground/fence/rows.ts'
import type { DispatchResult } from '../dispatch/tasks.ts'
import { failureText, isSuccess, retryAt } from '../retry.ts'
import { signWebhook } from '../signing.ts'
import type { EndpointTask } from './endpoint-tasks.ts'
import { readContent } from './event-rows.ts'
import { eventPayload } from './payload.ts'

const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  24 * HOUR_MS,
]

/** The columns that an attempt changes in the row of its delivery. */
type AttemptColumns = {
  status: WebhookStatus
  attempts: number
  statusCode: number | null
  error: string | null
  /** The beginning of the response to a failed attempt. */
  response: string | null
  durationMs: number | null
  lastAttemptAt: number
}

export type EndpointResult = DispatchResult & {
  columns: AttemptColumns
  /** The endpoint answered 410. */
  isGone: boolean
}

type PostDeps = Pick<Base, 'webhookClient' | 'now'>
type Deps = PostDeps & Pick<Base, 'store'>

const GONE = 410
const MAX_SHOWN_RESPONSE = 500
const MAX_ERROR = 500
const EVENT_DELETED = 'the event was deleted'

/** Returns undefined if the request was aborted, or a fence holds the delivery. */
export async function attemptDelivery(
  deps: Deps,
  task: EndpointTask,
  signal: AbortSignal,
): Promise<EndpointResult | undefined> {
  const { number, attempts, eventId, url, keys, sent } = task
  // The delivery was read before the fence was set; the sender passes it over from now on.
  if (number <= ((await findFence(deps.store.read, task.projectId))?.deliveryNumber ?? 0))
    return undefined
  if (sent === undefined) return withoutEvent(deps, task)
  const body = eventPayload(await readContent(deps, sent))
  const request = { url, keys, id: eventId, body, signal }
  const startedAt = performance.now()
  const result = await postWebhook(deps, request)
  if (result.kind === 'aborted') return undefined
  const at = deps.now()
  const isDone = isSuccess(result)
  const isFinal = isDone || result.kind === 'refused'
  const dueAt = isFinal ? null : retryAt(RETRY_DELAYS_MS, { attempts: attempts + 1, result, at })
  const durationMs = performance.now() - startedAt
  return {
    ...{ number, dueAt, hasAnswered: hasAnswered(result) },
    columns: attemptColumns(result, { attempts, dueAt, durationMs, at }),
    isGone: result.kind === 'response' && result.status === GONE,
  }
}

type Posted = {
  url: URL
  id: string
  body: string
  keys: readonly KeyObject[]
  signal?: AbortSignal
}

/** Signs and posts a payload. Redirects are not followed. */
export function postWebhook(
  { webhookClient, now }: PostDeps,
  { url, id, body, keys, signal }: Posted,
): Promise<HttpResult> {
  return webhookClient.request({
    url,
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Pillarbox-Webhooks',
      ...signWebhook({ id, at: now(), body }, keys),
    },
    cutsBody: true,
    isRepeatable: true,
    ...(signal && { signal }),
  })
}

export function attemptColumns(
  result: HttpResult,
  attempt: { attempts: number; dueAt: number | null; durationMs: number; at: number },
): AttemptColumns {
  const { attempts, dueAt, durationMs, at } = attempt
  const isDone = isSuccess(result)
  const hasResponse = result.kind === 'response'
  const text = hasResponse && !isDone ? result.body.toString('utf8') : ''
  return {
    status: isDone ? 'SUCCEEDED' : dueAt === null ? 'FAILED' : 'PENDING',
    attempts: attempts + 1,
    statusCode: hasResponse ? result.status : null,
    error: isDone ? null : failureText(result).slice(0, MAX_ERROR),
    response: text === '' ? null : text.slice(0, MAX_SHOWN_RESPONSE).toWellFormed(),
    durationMs: Math.round(durationMs),
    lastAttemptAt: at,
  }
}

/**
 * Whether the server answered at all. A line whose server answers may have more requests in flight.
 */
function hasAnswered({ kind }: HttpResult): boolean {
  return kind === 'response' || kind === 'refused'
}

function withoutEvent({ now }: PostDeps, { number, attempts }: EndpointTask): EndpointResult {
  return {
    ...{ number, dueAt: null, hasAnswered: true, isGone: false },
    columns: {
      ...{ status: 'FAILED', attempts, statusCode: null, error: EVENT_DELETED, response: null },
      ...{ durationMs: null, lastAttemptAt: now() },
    },
  }
}
