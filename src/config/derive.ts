/** Adds defaults that depend on other settings or on the system, and makes paths absolute. */
import os from 'node:os'
import path from 'node:path'
import { defaultDomains } from './certificates/ordered.ts'
import { type SettingKey, type SettingValues, settingKeys, settingOf } from './settings.ts'
import { hostName } from './values/kinds.ts'

const RELAY_PORTS = { starttls: 587, implicit: 465, none: 25 }

export function deriveValues(values: SettingValues, folder: string): SettingValues {
  const absolute = resolvePaths(values, folder)
  const hostname = values['delivery.hostname'] ?? systemHostName()
  return {
    ...absolute,
    'delivery.hostname': hostname,
    'delivery.return_path_domain': values['delivery.return_path_domain'] ?? `bounce.${hostname}`,
    'acme.domains': values['acme.domains'] ?? defaultAcmeDomains(values, hostname),
    'delivery.relay.port': values['delivery.relay.port'] ?? defaultRelayPort(values),
    ...chooseSubmissionTls(absolute),
  }
}

/** Falls back to localhost if the system has no valid host name. */
function systemHostName(): string {
  return hostName.read(os.hostname()) ?? 'localhost'
}

function defaultAcmeDomains(values: SettingValues, hostname: string): string[] | null {
  return values['acme.email'] === null ? null : defaultDomains(values.base_url, hostname)
}

function defaultRelayPort(values: SettingValues): number | null {
  return values['delivery.relay.host'] === null ? null : RELAY_PORTS[values['delivery.relay.tls']]
}

function resolvePaths(values: SettingValues, folder: string): SettingValues {
  const absolute = (key: SettingKey) => {
    const value = values[key]
    const isPath = settingOf(key).kind.isPath && typeof value === 'string'
    return [key, isPath ? path.resolve(folder, value) : value]
  }
  return Object.fromEntries(settingKeys.map(absolute)) as SettingValues
}

/** Submission uses the certificate of inbound unless it has its own setting. */
function chooseSubmissionTls(values: SettingValues) {
  const [cert, key] = [values['submission.tls_cert'], values['submission.tls_key']]
  const inbound = [values['inbound.tls_cert'], values['inbound.tls_key']] as const
  const isOwn = cert !== null || key !== null || inbound.includes(null)
  return {
    'submission.tls_cert': isOwn ? cert : inbound[0],
    'submission.tls_key': isOwn ? key : inbound[1],
  }
}
