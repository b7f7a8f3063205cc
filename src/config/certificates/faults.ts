/** Finds faults of usable certificates: expiry and wrong names. */
import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { DAY_MS, formatInstant } from '../../base/clock.ts'
import type { Config } from '../config.ts'
import { readPair } from './pair.ts'
import { TLS_LISTENERS, type TlsListener } from './tls-listener.ts'

const SOON_MS = 7 * DAY_MS
/** An ordered certificate is renewed after two thirds of its life, which may be a few days. */
const LATE_SHARE = 0.2
const MAX_NAMES_LENGTH = 200

type Names = Pick<Config, 'http' | 'baseUrl' | 'delivery'>

type ListenerCertificate = {
  listener: TlsListener
  file: string
  cert: Buffer
  isOrdered?: boolean | undefined
}

/** One sentence for each fault, with the file's name. `cert`: PEM; its first certificate counts. */
export function findCertificateFaults(
  config: Names,
  { listener, file, cert, isOrdered = false }: ListenerCertificate,
  at: number,
): string[] {
  const found = new X509Certificate(cert)
  const soonMs = isOrdered ? Math.min(SOON_MS, LATE_SHARE * lifeMsOf(found)) : SOON_MS
  const named = `The certificate ${file} of ${listener}`
  return [
    ...findDateFaults(found, at, soonMs).map((fault) => `${named} ${fault}.`),
    ...findNameFaults(found, namesOfListener(config, listener)).map(
      (fault) => `${named} ${fault}.`,
    ),
  ]
}

/**
 * Faults of all listeners' certificates, read now. Unreadable files were refused at the start; an ordered
 * certificate may not exist yet.
 */
export function listCertificateFaults(
  config: Names & Pick<Config, 'inbound' | 'submission'>,
  at: number,
): string[] {
  return TLS_LISTENERS.flatMap((listener) => {
    const { tls, listen } = config[listener]
    if (tls === null || (Array.isArray(listen) && listen.length === 0)) return []
    const { certFile: file, isOrdered } = tls
    if (isOrdered && !existsSync(file)) return []
    const { cert } = readPair(tls)
    return findCertificateFaults(config, { listener, file, cert, isOrdered }, at)
  })
}

/** Days until the certificate expires; negative afterwards. */
export function daysLeft(cert: Buffer, at: number): number {
  return (new X509Certificate(cert).validToDate.getTime() - at) / DAY_MS
}

function lifeMsOf({ validFromDate, validToDate }: X509Certificate): number {
  return validToDate.getTime() - validFromDate.getTime()
}

function findDateFaults(
  { validFromDate, validToDate }: X509Certificate,
  at: number,
  soonMs: number,
): string[] {
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()]
  if (to <= at) return [`expired at ${formatInstant(to)}`]
  if (from > at) return [`is not valid before ${formatInstant(from)}`]
  return to - at < soonMs ? [`expires at ${formatInstant(to)}`] : []
}

/** The fault of a certificate that is for none of these names; empty if one name matches, or if there are no names. */
export function findNameFaults(cert: X509Certificate, names: readonly string[]): string[] {
  if (names.length === 0 || names.some((name) => covers(cert, name))) return []
  const own = (cert.subjectAltName ?? cert.subject).replaceAll('\n', ', ')
  return [`is not for ${names.join(' or ')} but for ${own.slice(0, MAX_NAMES_LENGTH)}`]
}

function covers(cert: X509Certificate, name: string): boolean {
  return (isIP(name) === 0 ? cert.checkHost(name) : cert.checkIP(name)) !== undefined
}

/**
 * The names that a listener's certificate may be for; one of them is enough. Behind a proxy,
 * clients never see the certificate of `http`. Programs that submit mail may use either name.
 */
export function namesOfListener(
  { http, baseUrl, delivery }: Names,
  listener: TlsListener,
): string[] {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')
  if (listener === 'http') return http.trustedProxies.length > 0 ? [] : [host]
  return listener === 'inbound' ? [delivery.hostname] : [delivery.hostname, host]
}
