/**
 * Turns errors of openid-client into login failures. Their messages are fixed texts, but their causes
 * hold responses with tokens, so that only named fields of the causes are shown.
 */
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client'
import { oneLine } from '../../../../formats/one-line.ts'
import { LoginFailure } from './login-failure.ts'
import { ProviderUnreachable } from './provider-fetch.ts'

/** The most characters of a text that the provider wrote. */
const MAX_TEXT = 200
const MAX_CAUSES = 4
/** The errors in an answer that mean that the user does not want to log in. */
const REFUSED_BY_USER = new Set(['access_denied', 'user_cancelled_login', 'consent_required'])

/** The names of errors of the library below openid-client; some of its functions pass them on. */
const UNWRAPPED = new Set(['OperationProcessingError', 'UnsupportedOperationError'])

/** Runs `act`; what openid-client throws becomes a LoginFailure. @throws LoginFailure */
export async function withProvider<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw toLoginFailure(error)
  }
}

/** Turns errors of a provider into login failures, and returns all other errors unchanged. */
function toLoginFailure(error: unknown): unknown {
  if (error instanceof AuthorizationResponseError) {
    const isDenied = REFUSED_BY_USER.has(error.error)
    return new LoginFailure(isDenied ? 'access_denied' : 'provider_error', describe(error))
  }
  if (!isOfProvider(error)) return error
  return new LoginFailure('provider_error', describe(error))
}

/** Whether the provider refuses the way in which the client sent its credentials. */
export function isClientRefused(error: unknown): boolean {
  if (error instanceof WWWAuthenticateChallengeError) return true
  return error instanceof ResponseBodyError && error.error === 'invalid_client'
}

function isOfProvider(error: unknown): error is Error {
  return (
    error instanceof ClientError ||
    error instanceof ResponseBodyError ||
    error instanceof WWWAuthenticateChallengeError ||
    error instanceof ProviderUnreachable ||
    (error instanceof Error && UNWRAPPED.has(error.name)) ||
    // openid-client throws such errors for URLs and claims of the wrong type.
    (error instanceof TypeError && 'code' in error)
  )
}

function describe(error: Error): string {
  const parts: string[] = []
  let current: unknown = error
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth += 1) {
    // The message of a syntax error is left out, because it quotes the response.
    if (current instanceof SyntaxError) break
    parts.push(current.message, ...details(current))
    current = current.cause
  }
  parts.push(...detailsOfCause(current))
  return [...new Set(parts.filter((part) => part !== ''))].join(': ')
}

function details(error: Error): string[] {
  if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError) {
    return textsOf(error, ['error', 'error_description'])
  }
  if (error instanceof WWWAuthenticateChallengeError) return [`status ${error.status}`]
  return []
}

/**
 * Returns texts of the innermost cause, which is no error but a response, or an object with the
 * compared values.
 */
function detailsOfCause(cause: unknown): string[] {
  if (cause instanceof Response) return [`status ${cause.status}`]
  if (typeof cause !== 'object' || cause === null) return []
  const compared = textsOf(cause, ['claim', 'attribute', ...(isOfNonce(cause) ? [] : ['expected'])])
  const body = 'body' in cause ? cause.body : undefined
  if (typeof body !== 'object' || body === null) return compared
  return [...compared, ...textsOf(body, ['error', 'error_description', 'issuer'])]
}

function isOfNonce(cause: object): boolean {
  return 'claim' in cause && cause.claim === 'nonce'
}

function textsOf(source: object, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const value: unknown = Reflect.get(source, name)
    return typeof value === 'string' ? [`${name} ${oneLine(value).slice(0, MAX_TEXT)}`] : []
  })
}
