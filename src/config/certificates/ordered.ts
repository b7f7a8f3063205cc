/**
 * Which listeners use the certificate that is ordered by ACME: those without files of their own. HTTP
 * uses it only where clients connect to the server itself and expect HTTPS: `base_url` is https,
 * `http.listen` is no loopback address, and there are no `http.trusted_proxies`.
 */
import path from 'node:path'
import type { Config, ListenAddress } from '../config.ts'
import type { SettingValues } from '../settings.ts'
import { formatListenAddress, isHostName, isLoopbackHost } from '../values/listen-address.ts'
import type { TlsListener } from './tls-listener.ts'

/** The certificate chain and its key in one file, so that they are always replaced together. */
export function orderedFile(values: SettingValues): string {
  return path.join(values.data_dir, 'acme', 'certificate.pem')
}

/** Takes the values that `deriveValues` returns. */
export function isOrderedFor(values: SettingValues, listener: TlsListener): boolean {
  if (values['acme.email'] === null) return false
  if (values[`${listener}.tls_cert`] !== null) return false
  if (listener !== 'http') return values[`${listener}.listen`].length > 0
  if (values['http.trusted_proxies'].length > 0) return false
  return values.base_url.startsWith('https:') && !isLoopbackHost(values['http.listen'].host)
}

/** Where the ordered certificate is used, in words; empty without `acme`. */
export function describeOrdered({ http, inbound, submission }: Config): string[] {
  return [
    ...(http.tls?.isOrdered ? [`HTTPS at ${formatListenAddress(http.listen)}`] : []),
    ...(inbound.tls?.isOrdered ? placesOf('STARTTLS', inbound.listen) : []),
    ...(submission.tls?.isOrdered ? placesOf('submission', submission.listen) : []),
  ]
}

function placesOf(name: string, listen: readonly ListenAddress[]): string[] {
  return listen.map((address) => `${name} at ${formatListenAddress(address)}`)
}

/** The hosts of `base_url` and `delivery.hostname` that an authority can certify. */
export function defaultDomains(baseUrl: string, hostname: string): string[] {
  return [...new Set([new URL(baseUrl).hostname, hostname])].filter(isCertifiable)
}

/** Whether the name can be public: a host name with a dot. */
export function isCertifiable(name: string): boolean {
  return name.includes('.') && isHostName(name) && !isLoopbackHost(name)
}
