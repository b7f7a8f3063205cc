/**
 * When the next certificate is ordered. A certificate is renewed after two thirds of its life, or when
 * the authority suggests it (RFC 9773). After failures the delay doubles, so that restarts and faults
 * that last do not use up the authority's rate limits.
 */
import { createHash, type X509Certificate } from 'node:crypto'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../base/clock.ts'
import type { AcmeConfig } from '../../../config/config.ts'
import type { HeldCertificate, OrderState } from './folder.ts'

const RENEWAL_SHARE = 2 / 3
/** Renewals are spread over this share of the life that follows. */
const SPREAD_SHARE = 1 / 30
/** Retry delays vary by this share. */
const JITTER = 0.15
/** Let's Encrypt allows five failed validations of a name in an hour. */
const REFUSED_MS = { first: 2 * MINUTE_MS, max: 6 * HOUR_MS }
const UNREACHABLE_MS = { first: 10 * SECOND_MS, max: HOUR_MS }
/** After an order, nothing is ordered for this share of the certificate's life, at most a day. */
const REST_SHARE = 0.1
/** The longest wait that an authority may ask for (`parseRetryAfter`). */
const MAX_WAIT_MS = DAY_MS

/** Epoch milliseconds of the renewal; always the same for one certificate. */
export function renewalOf(certificate: X509Certificate): number {
  const from = certificate.validFromDate.getTime()
  const lifeMs = certificate.validToDate.getTime() - from
  return from + lifeMs * (RENEWAL_SHARE + SPREAD_SHARE * fractionOf(certificate))
}

/** A point of the window that the authority suggests; always the same for one certificate. */
export function pointOf(
  certificate: X509Certificate,
  window: { from: number; to: number },
): number {
  return window.from + (window.to - window.from) * fractionOf(certificate)
}

/** When an order is due, whatever has failed before; 0: now. */
export function orderDueAt(
  held: HeldCertificate | undefined,
  { directoryUrl, domains }: Pick<AcmeConfig, 'directoryUrl' | 'domains'>,
  suggestedAt: number | null,
): number {
  if (held === undefined || held.directoryUrl !== directoryUrl) return 0
  if (!isSameSet(held.domains, domains)) return 0
  return Math.min(renewalOf(held.certificate), suggestedAt ?? Number.POSITIVE_INFINITY)
}

/** Until when earlier orders forbid one with these settings; 0: they do not. */
export function barredUntil(
  state: OrderState | undefined,
  { settings, isHeld }: { settings: string; isHeld: boolean },
  now: number,
): number {
  if (state === undefined || state.settings !== settings) return 0
  if (state.failures === 0 && !isHeld) return 0
  // A clock that was wrong when it was written must not stop orders for years.
  return state.nextAttemptAt > now + MAX_WAIT_MS ? 0 : state.nextAttemptAt
}

/** The delay after this many failures. `random`: from 0 to 1. */
export function retryDelay(
  failures: number,
  kind: 'refused' | 'unreachable',
  random: () => number,
): number {
  const { first, max } = kind === 'refused' ? REFUSED_MS : UNREACHABLE_MS
  const delayMs = Math.min(max, first * 2 ** Math.min(failures - 1, 30))
  return delayMs * (1 - JITTER + 2 * JITTER * random())
}

/**
 * The least time between two orders, should a certificate be due as soon as it is issued: the clock of
 * this server, or that of the authority, is wrong then.
 */
export function restAfter(certificate: X509Certificate): number {
  const lifeMs = certificate.validToDate.getTime() - certificate.validFromDate.getTime()
  return Math.min(DAY_MS, REST_SHARE * lifeMs)
}

/** Changes when an operator changes what an order depends on. */
export function settingsDigest(acme: AcmeConfig): string {
  const { folder: _, ...settings } = acme
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 16)
}

/** From 0 to 1, by the certificate. */
function fractionOf({ raw }: X509Certificate): number {
  return createHash('sha256').update(raw).digest().readUInt32BE() / 2 ** 32
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && other.every((name) => one.includes(name))
}
