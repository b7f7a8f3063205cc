/**
 * One attempt of the request of a WEBHOOK step:
 *
 *   2xx                                        COMPLETED
 *   no answer, 408, 425, 429, 5xx              tried again after 10 s, 1 m, 5 m, 30 m, 2 h, or when the
 *                                              server asks (Retry-After); FAILED after the last attempt
 *   any other status, an address that is
 *   not allowed, a message that cannot be made FAILED at once
 *
 * The result is kept in each case: the output of the step.
 */

import querystring from 'node:querystring'
import { formatInstant, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../base/clock.ts'
import { isDeeperThan, parseJsonText } from '../../../../base/json-text.ts'
import type { HttpResult } from '../../../../outbound/http/client.ts'
import type { Base } from '../../../ground/base.ts'
import type { DispatchResult, RequestTask } from '../../webhooks/dispatch/tasks.ts'
import { failureText, isSuccess, retryAt } from '../../webhooks/retry.ts'
import { signWebhook } from '../../webhooks/signing.ts'
import { loadSigningKeys } from '../../webhooks/signing-secret.ts'
import { HEADER_MASK, isSecretHeader } from '../graph/secret-headers.ts'
import { STEP_ERRORS } from '../reasons.ts'
import { findWorkflowRequest, type LoadedRequest, type StepHttpRequest } from './load.ts'
import type { Prepare } from './render.ts'

const RETRY_DELAYS_MS: readonly number[] = [
  10 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
]

export type RequestResult = DispatchResult & {
  ordinal: number
  stepExecutionId: string
  attempts: number
  /** The final status; null if the request will be tried again. */
  status: 'COMPLETED' | 'FAILED' | null
  input: Record<string, unknown>
  output: Record<string, unknown>
  error: string | null
}

type Deps = Pick<Base, 'store' | 'keyring' | 'now' | 'webhookClient'>

const MAX_REDIRECTS = 5
const RETRIED = new Set([408, 425, 429])

/**
 * A response with deeper values stays a text, because an output with such values could not be
 * written as JSON.
 */
const MAX_DEPTH = 100

/** Secrets shorter than this are not hidden, because other texts may contain them by chance. */
const MIN_SECRET_LENGTH = 8

/** Returns undefined if the request is gone, or was aborted. */
export async function attemptRequest(
  deps: Deps,
  prepare: Prepare,
  { task: { number }, signal }: { task: RequestTask; signal: AbortSignal },
): Promise<RequestResult | undefined> {
  const loaded = await findWorkflowRequest(deps, number)
  if (loaded === undefined) return undefined
  const prepared = await prepare(loaded)
  if (prepared === undefined) return undefined
  const { message } = prepared
  const error = loaded.isProjectDisabled
    ? STEP_ERRORS.project_disabled
    : 'error' in prepared
      ? prepared.error
      : undefined
  if (error !== undefined) return failed(loaded, message, error)
  const startedAt = performance.now()
  const result = await send(deps, loaded, { message, signal })
  if (result.kind === 'aborted') return undefined
  const durationMs = Math.round(performance.now() - startedAt)
  return toResult(loaded, { message, result, durationMs, at: deps.now() })
}

async function send(
  deps: Deps,
  { projectId, stepExecutionId: id }: LoadedRequest,
  { message, signal }: { message: StepHttpRequest; signal: AbortSignal },
): Promise<HttpResult> {
  const { url, method, headers, body } = message
  const keys = await loadSigningKeys(deps, projectId)
  const signed = signWebhook({ id, at: deps.now(), body: body ?? '' }, keys)
  return deps.webhookClient.request({
    ...{ url: new URL(url), method, headers: { ...headers, ...signed }, signal },
    ...(body === null ? {} : { body }),
    ...{ maxRedirects: MAX_REDIRECTS, cutsBody: true, isRepeatable: true },
  })
}

type Answered = { message: StepHttpRequest; result: HttpResult; durationMs: number; at: number }

function toResult(
  loaded: LoadedRequest,
  { message, result, durationMs, at }: Answered,
): RequestResult {
  const { number, ordinal, stepExecutionId } = loaded
  const attempts = loaded.attempts + 1
  const isDone = isSuccess(result)
  const dueAt =
    isDone || !isRetried(result) ? null : retryAt(RETRY_DELAYS_MS, { attempts, result, at })
  const answer = result.kind === 'response' ? result : null
  return {
    ...{ number, dueAt, ordinal, stepExecutionId, attempts },
    hasAnswered: result.kind === 'response' || result.kind === 'refused',
    status: isDone ? 'COMPLETED' : dueAt === null ? 'FAILED' : null,
    input: inputOf(message),
    output: {
      ...{ url: message.url, method: message.method },
      ...{ statusCode: answer?.status ?? null, success: isDone },
      ...redirectOf(message, result),
      response: answer === null ? null : parseResponse(answer.body, secretsOf(message)),
      ...(answer?.isCut ? { isResponseTruncated: true } : {}),
      ...{ attempts, durationMs },
      ...(dueAt === null ? {} : { nextAttemptAt: formatInstant(dueAt) }),
    },
    error: isDone ? null : hide(failureText(result), secretsOf(message)),
  }
}

/** Returns where redirects led. The receiver chose this url, so secrets are hidden in it, too. */
function redirectOf(message: StepHttpRequest, result: HttpResult): { redirectedTo?: string } {
  if (result.kind !== 'response' || result.url.href === new URL(message.url).href) return {}
  return { redirectedTo: hideInUrl(result.url.href, secretsOf(message)) }
}

function isRetried(result: HttpResult): boolean {
  if (result.kind !== 'response') return result.kind !== 'refused'
  return result.status >= 500 || RETRIED.has(result.status)
}

/** Returns the result of a request that fails without an attempt. */
function failed(loaded: LoadedRequest, message: StepHttpRequest, error: string): RequestResult {
  const { number, ordinal, stepExecutionId, attempts } = loaded
  const { url, method } = message
  return {
    ...{ number, dueAt: null, hasAnswered: true, ordinal, stepExecutionId, attempts },
    status: 'FAILED',
    input: inputOf(message),
    output: { url, method, statusCode: null, success: false, response: null, attempts },
    error,
  }
}

/**
 * Returns the values of the headers that the step's input hides. They are hidden in the response
 * too, because a receiver may send back what it got.
 */
function secretsOf({ headers }: StepHttpRequest): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (isSecretHeader(name) ? [value] : []))
}

function inputOf({ url, method, headers, body }: StepHttpRequest): Record<string, unknown> {
  const shown = Object.entries(headers).map(([name, value]) => [
    name,
    isSecretHeader(name) ? HEADER_MASK : value,
  ])
  return { url, method, headers: Object.fromEntries(shown), body }
}

/**
 * Returns the response for the output of a WEBHOOK step: the value if the body is JSON, else the
 * body as a text. A receiver may send back what it got, so secrets are hidden here, too. `secrets`:
 * the header values that the input hides.
 */
export function parseResponse(body: Buffer, secrets: readonly string[] = []): unknown {
  const text = hide(body.toString('utf8').toWellFormed(), secrets)
  try {
    const value = parseJsonText(text)
    return isDeeperThan(value, MAX_DEPTH) ? text : value
  } catch {
    return text
  }
}

/**
 * Hides whole values, and the part of a value after its scheme: a receiver often sends `Bearer abc`
 * back as `abc`.
 */
function hide(text: string, secrets: readonly string[]): string {
  const parts = secrets.flatMap((secret) => [secret, secret.slice(secret.indexOf(' ') + 1)])
  const hidden = new Set(parts.filter(({ length }) => length >= MIN_SECRET_LENGTH))
  const longestFirst = [...hidden].sort((a, b) => b.length - a.length)
  return longestFirst.reduce((shown, part) => {
    const escaped = JSON.stringify(part).slice(1, -1)
    return shown.replaceAll(part, HEADER_MASK).replaceAll(escaped, HEADER_MASK)
  }, text)
}

/**
 * Hides secrets in a url: if it contains a secret in any encoding, it is shown without path and
 * query.
 */
export function hideInUrl(href: string, secrets: readonly string[]): string {
  const decoded = [
    href,
    querystring.unescape(href),
    querystring.unescape(href.replaceAll('+', ' ')),
  ]
  const isHidden = decoded.some((text) => hide(text, secrets) !== text)
  return isHidden ? `${new URL(href).origin}/${HEADER_MASK}` : href
}
