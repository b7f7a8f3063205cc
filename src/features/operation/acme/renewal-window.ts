/**
 * The window in which the authority suggests to renew a certificate (RFC 9773): earlier than usual if it
 * has to revoke it.
 */
import type { X509Certificate } from 'node:crypto'
import { HOUR_MS, MINUTE_MS } from '../../../base/clock.ts'
import { parseRetryAfter } from '../../../outbound/http/retry-after.ts'
import type { AcmeClient } from './client.ts'

export type RenewalWindow = {
  /** Epoch milliseconds; null without a suggestion. */
  window: { from: number; to: number } | null
  /** When to ask again. */
  askAgainAfterMs: number
}

const ASK_EVERY_MS = 6 * HOUR_MS
const ASK_LEAST_MS = 10 * MINUTE_MS
/** The authority key identifier (RFC 5280 section 4.2.1.1): its object identifier, in DER. */
const AUTHORITY_KEY = Buffer.from('0603551d23', 'hex')
const OCTET_STRING = 0x04
const SEQUENCE = 0x30
const KEY_IDENTIFIER = 0x80

/** @throws AcmeFailure */
export async function askRenewalWindow(
  client: AcmeClient,
  certificate: X509Certificate,
  now: number,
): Promise<RenewalWindow> {
  const url = await client.resource('renewalInfo')
  const id = certificateId(certificate)
  if (url === undefined || id === undefined) return { window: null, askAgainAfterMs: ASK_EVERY_MS }
  const { body, headers } = await client.get(`${url.replace(/\/$/, '')}/${id}`)
  const { start, end } = Object(body.suggestedWindow) as Record<string, unknown>
  const [from, to] = [Date.parse(String(start)), Date.parse(String(end))]
  const asked = parseRetryAfter(headers['retry-after'], now) ?? ASK_EVERY_MS
  return {
    window: to > from ? { from, to } : null,
    askAgainAfterMs: Math.max(ASK_LEAST_MS, asked),
  }
}

/** The identifier of RFC 9773 section 4.1; undefined if the certificate names no key of its issuer. */
export function certificateId({ raw, serialNumber }: X509Certificate): string | undefined {
  const key = findAuthorityKey(raw)
  if (key === undefined) return undefined
  const even = serialNumber.padStart(serialNumber.length + (serialNumber.length % 2), '0')
  const digits = Buffer.from(even, 'hex')
  // DER writes a positive integer with a first bit of 0.
  const serial = (digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), digits]) : digits
  return `${key.toString('base64url')}.${serial.toString('base64url')}`
}

/** The extension is an OCTET STRING of a SEQUENCE whose first part is the key identifier, all short. */
function findAuthorityKey(der: Buffer): Buffer | undefined {
  const at = der.indexOf(AUTHORITY_KEY)
  if (at === -1) return undefined
  const [octets, , sequence, , tag, length = 0] = der.subarray(at + AUTHORITY_KEY.length)
  const isKey = octets === OCTET_STRING && sequence === SEQUENCE && tag === KEY_IDENTIFIER
  const from = at + AUTHORITY_KEY.length + 6
  return isKey && length < 0x80 ? der.subarray(from, from + length) : undefined
}
