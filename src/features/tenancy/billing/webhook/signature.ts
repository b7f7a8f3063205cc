/**
 * Checks the signature of an event of Stripe: `t=<seconds>,v1=<hex>,…`, an HMAC-SHA-256 over the seconds,
 * a dot and the body as it was sent. While the operator rolls the secret, Stripe signs with the old one and
 * the new one, so one of several signatures must be right.
 * Source: https://docs.stripe.com/webhooks/signature
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { MINUTE_MS, SECOND_MS } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'

/** In the past and in the future. */
const TOLERANCE_MS = 5 * MINUTE_MS
const MAX_HEADER_LENGTH = 2_000

type Signed = { header: unknown; body: Buffer; secret: string; at: number }

/** @throws AppError BAD_REQUEST without a right and recent signature */
export function checkSignature({ header, body, secret, at }: Signed): void {
  if (typeof header !== 'string' || header === '') throw refused('The signature is missing.')
  const { seconds, signatures } = parse(header.slice(0, MAX_HEADER_LENGTH))
  if (seconds === undefined) throw refused('The signature has no time.')
  const content = Buffer.concat([Buffer.from(`${seconds}.`), body])
  const expected = createHmac('sha256', secret).update(content).digest()
  if (!signatures.some((one) => isSame(one, expected))) throw refused('The signature is not valid.')
  if (Math.abs(at - Number(seconds) * SECOND_MS) > TOLERANCE_MS) {
    throw refused('The signature is too old, or of the future.')
  }
}

/** `seconds` as it was sent, because it is signed so. */
function parse(header: string): { seconds: string | undefined; signatures: string[] } {
  const pairs = header.split(',').map((part) => part.trim().split('='))
  const valuesOf = (key: string) =>
    pairs.flatMap(([name, value = '']) => (name === key ? [value] : []))
  const seconds = valuesOf('t').find((value) => /^\d{1,12}$/.test(value))
  return { seconds, signatures: valuesOf('v1').filter((value) => /^[0-9a-f]{64}$/.test(value)) }
}

function isSame(signature: string, expected: Buffer): boolean {
  return timingSafeEqual(Buffer.from(signature, 'hex'), expected)
}

function refused(text: string): AppError {
  return new AppError('BAD_REQUEST', text, {
    suggestion: 'Check that billing.stripe_webhook_secret is the secret of this webhook endpoint.',
  })
}
