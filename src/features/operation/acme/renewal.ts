/**
 * When the next certificate is ordered. A certificate is renewed after two thirds of its life, or
 * when the authority suggests to do so (RFC 9773), which is earlier if the authority has to revoke
 * the certificate. After failures the delay doubles, so that restarts and lasting faults do not
 * use up the authority's rate limits.
 */
import { createHash, type X509Certificate } from 'node:crypto'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../base/clock.ts'
import type { AcmeConfig } from '../../../config/config.ts'
import { parseRetryAfter } from '../../../outbound/http/retry-after.ts'
import type { AcmeClient } from './client.ts'
import type { CurrentCertificate, OrderState } from './folder.ts'

const ASK_EVERY_MS = 6 * HOUR_MS
const ASK_LEAST_MS = 10 * MINUTE_MS
/**
 * The object identifier of the extension with the authority key identifier (RFC 5280 section
 * 4.2.1.1), in DER.
 */
const AUTHORITY_KEY = Buffer.from('0603551d23', 'hex')
const OCTET_STRING = 0x04
const SEQUENCE = 0x30
const KEY_IDENTIFIER = 0x80
const RENEWAL_SHARE = 2 / 3
/** Renewals are spread over this share of the certificate's life, from two thirds on. */
const SPREAD_SHARE = 1 / 30
/** A retry delay is longer or shorter by up to this share. */
const JITTER = 0.15
/**
 * The retry delays after a refusal. Let's Encrypt allows five failed validations of a name in an
 * hour.
 */
const REFUSED_MS = { first: 2 * MINUTE_MS, max: 6 * HOUR_MS }
const UNREACHABLE_MS = { first: 10 * SECOND_MS, max: HOUR_MS }
/** After an order, nothing is ordered for this share of the certificate's life, at most a day. */
const REST_SHARE = 0.1
/** The longest wait that counts when an authority asks for one (`parseRetryAfter`). */
const MAX_WAIT_MS = DAY_MS

/** Returns the time of the renewal (epoch ms); always the same time for one certificate. */
export function renewalOf(certificate: X509Certificate): number {
  const from = certificate.validFromDate.getTime()
  const lifeMs = certificate.validToDate.getTime() - from
  return from + lifeMs * (RENEWAL_SHARE + SPREAD_SHARE * fractionOf(certificate))
}

/**
 * Chooses a point of the window that the authority suggests; always the same point for one
 * certificate.
 */
export function pointOf(
  certificate: X509Certificate,
  window: { from: number; to: number },
): number {
  return window.from + (window.to - window.from) * fractionOf(certificate)
}

/**
 * Returns when an order is due (epoch ms), leaving out the waits after failures; 0 if one is due
 * now.
 */
export function orderDueAt(
  current: CurrentCertificate | undefined,
  { directoryUrl, domains }: Pick<AcmeConfig, 'directoryUrl' | 'domains'>,
  suggestedAt: number | null,
): number {
  if (current === undefined || current.directoryUrl !== directoryUrl) return 0
  if (!isSameSet(current.domains, domains)) return 0
  return Math.min(renewalOf(current.certificate), suggestedAt ?? Number.POSITIVE_INFINITY)
}

/** Returns until when earlier orders forbid an order with these settings; 0 if they do not. */
export function barredUntil(
  state: OrderState | undefined,
  { settings, hasCurrent }: { settings: string; hasCurrent: boolean },
  now: number,
): number {
  if (state === undefined || state.settings !== settings) return 0
  if (state.failures === 0 && !hasCurrent) return 0
  // A state written with a wrong clock must not stop orders for years.
  return state.nextAttemptAt > now + MAX_WAIT_MS ? 0 : state.nextAttemptAt
}

/** Returns the delay after this many failures. `random` gives a number from 0 to 1. */
export function orderRetryDelay(
  failures: number,
  kind: 'refused' | 'unreachable',
  random: () => number,
): number {
  const { first, max } = kind === 'refused' ? REFUSED_MS : UNREACHABLE_MS
  const delayMs = Math.min(max, first * 2 ** Math.min(failures - 1, 30))
  return delayMs * (1 - JITTER + 2 * JITTER * random())
}

/**
 * The least time between two orders. The rest matters when a clock is wrong, here or at the
 * authority: then each certificate is due as soon as it is issued.
 */
export function restAfter(certificate: X509Certificate): number {
  const lifeMs = certificate.validToDate.getTime() - certificate.validFromDate.getTime()
  return Math.min(DAY_MS, REST_SHARE * lifeMs)
}

/** The digest of the settings that an order depends on. */
export function settingsDigest(acme: AcmeConfig): string {
  const { folder: _, ...settings } = acme
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 16)
}

/** Returns a number from 0 to 1 that depends on the certificate alone. */
function fractionOf({ raw }: X509Certificate): number {
  return createHash('sha256').update(raw).digest().readUInt32BE() / 2 ** 32
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && other.every((name) => one.includes(name))
}

type RenewalWindow = {
  /** The suggested window (epoch ms); null without a suggestion. */
  window: { from: number; to: number } | null
  /** After how long to ask again. */
  askAgainAfterMs: number
}

/**
 * Asks the authority for the window in which to renew the certificate (RFC 9773).
 * @throws AcmeFailure
 */
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

/**
 * The identifier of a certificate for its authority (RFC 9773 section 4.1); undefined if the
 * certificate names no key of its issuer.
 */
export function certificateId({ raw, serialNumber }: X509Certificate): string | undefined {
  const key = findAuthorityKey(raw)
  if (key === undefined) return undefined
  const even = serialNumber.padStart(serialNumber.length + (serialNumber.length % 2), '0')
  const digits = Buffer.from(even, 'hex')
  // A leading byte 0 marks the number as positive: in DER, a positive integer begins with a bit of
  // 0.
  const serial = (digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), digits]) : digits
  return `${key.toString('base64url')}.${serial.toString('base64url')}`
}

/**
 * Finds the key identifier of the issuer. Its extension is an OCTET STRING of a SEQUENCE with the
 * key identifier as its first part; all lengths have one byte.
 */
function findAuthorityKey(der: Buffer): Buffer | undefined {
  const at = der.indexOf(AUTHORITY_KEY)
  if (at === -1) return undefined
  const [octets, , sequence, , tag, length = 0] = der.subarray(at + AUTHORITY_KEY.length)
  const isKey = octets === OCTET_STRING && sequence === SEQUENCE && tag === KEY_IDENTIFIER
  const from = at + AUTHORITY_KEY.length + 6
  return isKey && length < 0x80 ? der.subarray(from, from + length) : undefined
}
