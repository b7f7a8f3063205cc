/**
 * The fault of a request to Stripe. Clients see only that billing does not answer; the log gets
 * Stripe's own words, without keys.
 *
 *   unanswered      no answer, or one that says nothing about the request: 5xx, 409, 429. It may have
 *                   had its effect
 *   misconfigured   the key is not accepted, or may not do this (401, 403)
 *   missing         the object of the path is not there (404)
 *   duplicate       a meter event with this identifier is there already
 *   refused         any other 4xx: the same request would be refused again
 */
import type { Stripe } from 'stripe'
import { AppError, describeError } from '../../../base/errors.ts'

type FaultKind = 'unanswered' | 'misconfigured' | 'missing' | 'duplicate' | 'refused'

export class StripeFault extends AppError {
  readonly kind: FaultKind
  /** The code in Stripe's error: `resource_missing`. */
  readonly stripeCode: string | undefined

  constructor(kind: FaultKind, cause: Error, stripeCode?: string) {
    super('EXTERNAL_SERVICE_ERROR', TEXTS[kind], { cause })
    this.kind = kind
    this.stripeCode = stripeCode
  }
}

const TEXTS: Readonly<Record<FaultKind, string>> = {
  unanswered: 'The payment provider does not answer at the moment.',
  misconfigured: 'The payment provider refused the key of this server.',
  missing: 'The payment provider does not have this object.',
  duplicate: 'The payment provider has this already.',
  refused: 'The payment provider refused the request.',
}

const KEYS = /\b((?:sk|rk|pk)_(?:live|test)|whsec)_[^\s'"]+/g

/** Makes a fault of `error`, which the client of Stripe has thrown. */
export function toFault(error: unknown): StripeFault {
  if (error instanceof StripeFault) return error
  const { statusCode, code, type } = (error ?? {}) as Partial<Stripe.errors.StripeError>
  const cause = new Error(describe(error))
  cause.name = type ?? 'StripeError'
  return new StripeFault(kindOf({ statusCode, code, text: cause.message }), cause, code)
}

/** Whether an error is a fault of one of the given kinds; of any kind if none is given. */
export function isFault(error: unknown, ...kinds: FaultKind[]): error is StripeFault {
  return error instanceof StripeFault && (kinds.length === 0 || kinds.includes(error.kind))
}

type FaultFacts = { statusCode: number | undefined; code: string | undefined; text: string }

function kindOf({ statusCode, code, text }: FaultFacts): FaultKind {
  if (statusCode === undefined || statusCode >= 500) return 'unanswered'
  if (statusCode === 409 || statusCode === 429) return 'unanswered'
  if (statusCode === 401 || statusCode === 403) return 'misconfigured'
  // Also reads the message, because Stripe often leaves out the code.
  const isDuplicate =
    code === 'duplicate_meter_event' || /already exists with identifier/i.test(text)
  if (isDuplicate) return 'duplicate'
  return statusCode === 404 ? 'missing' : 'refused'
}

function describe(error: unknown): string {
  const { statusCode, code, requestId, detail } = (error ??
    {}) as Partial<Stripe.errors.StripeError>
  const facts = [statusCode, code, requestId].filter((fact) => fact !== undefined).join(' ')
  const reason = detail instanceof Error ? `: ${describeError(detail)}` : ''
  const text = `${describeError(error)}${reason}`
  return (facts === '' ? text : `${text} (${facts})`).replace(KEYS, '$1_…').slice(0, 1_000)
}
