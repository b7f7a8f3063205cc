/** Warnings about a valid configuration. Reads file modes; changes nothing. */
import { statSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import path from 'node:path'
import { hasCode } from '../base/errors.ts'
import { describeOrdered } from './certificates/ordered.ts'
import type { Config } from './config.ts'
import type { LoadedConfig } from './load.ts'
import { settingKeys, settingOf } from './settings.ts'
import { isLoopbackHost } from './values/listen-address.ts'

/** Returns the warnings, one sentence each. */
export function listWarnings(loaded: LoadedConfig): string[] {
  const { config } = loaded
  return [
    ...warnOfMode(config),
    ...warnOfBaseUrl(config),
    ...warnOfHttp(config),
    ...warnOfAcme(config),
    ...warnOfDelivery(config),
    ...warnOfRelay(config),
    ...warnOfDns(config),
    ...warnOfLimits(config),
    ...warnOfFiles(loaded),
  ]
}

function warnOfMode({ delivery, http }: Config): string[] {
  if (delivery.mode !== 'sandbox' || isLoopbackHost(http.listen.host)) return []
  return [
    'delivery.mode is sandbox: all mail stays on this server. Because http.listen is not a loopback address, no first user and project are created.',
  ]
}

function warnOfBaseUrl({ delivery, baseUrl, http }: Config): string[] {
  const { protocol, hostname, port } = new URL(baseUrl)
  const isLocal = isLoopbackHost(hostname.replace(/^\[|\]$/g, ''))
  if (delivery.mode === 'sandbox') {
    const isElsewhere = Number(port || 80) !== http.listen.port && http.listen.port !== 0
    if (!isLocal || !isElsewhere || http.trustedProxies.length > 0) return []
    return [
      `base_url is ${baseUrl}, but http.listen has port ${http.listen.port}: links in mail lead to another port. Set base_url.`,
    ]
  }
  if (!isLocal && protocol === 'https:') return []
  const why = isLocal ? 'recipients cannot reach it' : 'it is not https'
  return [
    `base_url is ${baseUrl}: ${why}, so links in mail do not work for recipients and one-click unsubscribe headers are left out.`,
  ]
}

function warnOfHttp({ http }: Config): string[] {
  const isOpen = !isLoopbackHost(http.listen.host) && http.tls === null
  if (!isOpen || http.trustedProxies.length > 0) return []
  return [
    'http.listen is reachable from outside without TLS: API keys travel in clear text. Set acme.email, or http.tls_cert and http.tls_key, or put a proxy in front and name it in http.trusted_proxies.',
  ]
}

function warnOfAcme(config: Config): string[] {
  const { acme } = config
  if (acme === null) return []
  const warnings: string[] = []
  if (describeOrdered(config).length === 0) {
    warnings.push(
      'acme.email is set, but no listener uses the certificate: each has files of its own, is behind a proxy, or is not open.',
    )
  }
  if (acme.listen.length > 0 && acme.listen.every(({ port }) => port !== 80)) {
    warnings.push(
      'acme.listen has no port 80: the certificate authority connects to port 80 of each name, so something must forward it.',
    )
  }
  return warnings
}

function warnOfDelivery({ delivery }: Config): string[] {
  const warnings: string[] = []
  if (delivery.mode === 'direct' && delivery.port !== 25) {
    warnings.push(`delivery.port is ${delivery.port}: mail servers on the internet listen on 25.`)
  }
  if (delivery.mode === 'direct' && delivery.allowPrivateNetworks) {
    warnings.push(
      'delivery.allow_private_networks is on: a foreign DNS record can make this server connect to machines in your own network.',
    )
  }
  const local = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  for (const address of delivery.sourceAddresses) {
    if (local.some((one) => one.address === address)) continue
    warnings.push(`delivery.source_addresses: ${address} is not an address of this machine.`)
  }
  return warnings
}

function warnOfRelay({ delivery: { mode, relay } }: Config): string[] {
  if (mode !== 'relay' || relay?.tls !== 'none' || isLoopbackHost(relay.host)) return []
  return [`delivery.relay.tls is none: all mail goes to ${relay.host} in clear text.`]
}

function warnOfDns({ dns }: Config): string[] {
  if (dns.canary.length > 0) return []
  return [
    'dns.canary is empty: a DNS server that wrongly reports domains as missing is believed, and their recipients are suppressed.',
  ]
}

function warnOfLimits({ limits }: Config): string[] {
  if ((limits.attachmentsMaxBytes * 4) / 3 <= limits.messageMaxBytes) return []
  return [
    'Attachments of limits.attachments_max_bytes exceed limits.message_max_bytes: base64 makes them a third larger.',
  ]
}

/** Windows has no file modes. */
function warnOfFiles({ config, origins }: LoadedConfig): string[] {
  if (process.platform === 'win32') return []
  const secretsIn = new Set(
    settingKeys.filter((key) => settingOf(key).kind.isSecret).map((key) => origins.get(key)),
  )
  const open = [...secretsIn].filter((file) => file !== undefined && hasMode(file, 0o007))
  const warnings = open.map(
    (file) => `${file} holds secrets and every user can read it; run chmod 600.`,
  )
  if (hasMode(config.dataDir, 0o077)) {
    warnings.push(`${config.dataDir} is open to other users; run chmod 700.`)
  }
  if (config.secret === null && hasMode(path.join(config.dataDir, 'secret'), 0o077)) {
    warnings.push(`${path.join(config.dataDir, 'secret')} is open to other users; run chmod 600.`)
  }
  return warnings
}

/**
 * Whether a file has one of the mode bits. False for a `name` that is no path: secrets may come from
 * environment variables.
 */
function hasMode(name: string, bits: number): boolean {
  if (!path.isAbsolute(name)) return false
  try {
    const found = statSync(name, { throwIfNoEntry: false })
    return found !== undefined && (found.mode & bits) !== 0
  } catch (error) {
    // A file in a folder that this user cannot enter is not open to every user.
    if (hasCode(error, 'EACCES')) return false
    throw error
  }
}
