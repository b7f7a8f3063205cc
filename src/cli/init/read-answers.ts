/**
 * Reads the answers to the questions of `init` from options, for a set-up without a person; and
 * describes what the new server needs around it.
 */
import type { Config } from '../../config/config.ts'
import { SYSTEM_FILE } from '../../config/layers/file.ts'
import { type SettingKey, settingOf } from '../../config/settings.ts'
import { isLoopbackHost } from '../../config/values/listen-address.ts'
import { parseShownAddress } from '../../formats/address/named-mailbox.ts'
import { type Input, UsageError } from '../engine/command.ts'
import { formatTable } from '../engine/text.ts'
import { STATE_FOLDER } from '../systemd/unit.ts'
import type { GivenSettings } from './ask-settings.ts'

const MODES = ['sandbox', 'direct', 'relay'] as const
const TLS_MODES = ['starttls', 'implicit', 'none'] as const
const RELAY_PORTS = { starttls: 587, implicit: 465, none: 25 } as const
/** Options whose value becomes the value of one setting. */
const ANSWER_KEYS: readonly (readonly [flag: string, key: SettingKey])[] = [
  ['--base-url', 'base_url'],
  ['--data-dir', 'data_dir'],
  ['--hostname', 'delivery.hostname'],
  ['--relay-host', 'delivery.relay.host'],
  ['--relay-username', 'delivery.relay.username'],
  ['--acme-email', 'acme.email'],
  ['--backup-dir', 'backup.dir'],
]
const TEXTS = [
  ...ANSWER_KEYS.map(([flag]) => nameOf(flag)),
  ...['mode', 'relayPort', 'relayTls', 'relayPasswordFile', 'user', 'password'],
]
const PASSWORD_FILE_FLAG = '--relay-password-file'
const RELAY_FLAGS = [
  ...['--relay-host', '--relay-port', '--relay-tls', '--relay-username', PASSWORD_FILE_FLAG],
]
const ANSWER_FLAGS = ['inbound', 'submission', 'https', 'passwordStdin', 'yes']

type GivenAnswers = {
  given: GivenSettings
  /** Setting -> the file that holds its secret. */
  secretFiles: Partial<Record<SettingKey, string>>
  /** The address of the first user; undefined: no user is created. */
  address: string | undefined
}

type Server = Pick<Config, 'delivery' | 'inbound' | 'submission' | 'http' | 'acme' | 'baseUrl'>

type ServerRecord = { name: string; type: string; value: string }

/** Whether an option answers any of the questions; then nothing is asked. */
export function isAnswered(input: Input): boolean {
  return (
    TEXTS.some((name) => input.text(name) !== undefined) ||
    ANSWER_FLAGS.some((name) => input.has(name))
  )
}

/** Returns the option that sets a key; undefined if no option does. */
export function optionOfKey(key: string): string | undefined {
  if (key === 'delivery.relay.password') return PASSWORD_FILE_FLAG
  return ANSWER_KEYS.find(([, each]) => each === key)?.[0]
}

/**
 * Reads the settings from the options. `file`: the configuration file that will be written.
 * @throws UsageError
 */
export function readAnswers(input: Input, file: string): GivenAnswers {
  const given: GivenSettings = {
    // The systemd unit lets the service write to this folder.
    ...(file === SYSTEM_FILE ? { data_dir: STATE_FOLDER } : {}),
    ...Object.assign({}, ...ANSWER_KEYS.map(([flag, key]) => readKey(input, flag, key))),
    ...readMode(input),
    ...readRelay(input),
    ...(input.text('backupDir') === undefined ? {} : { 'backup.every': '1d' }),
    ...(input.has('https') ? { 'http.listen': '0.0.0.0:443' } : {}),
    ...listeners(input),
  }
  if (input.has('https') && given['acme.email'] === undefined) {
    throw new UsageError('--https needs --acme-email: without a certificate it serves plain HTTP')
  }
  const ofRelay = RELAY_FLAGS.find((flag) => input.text(nameOf(flag)) !== undefined)
  if (ofRelay !== undefined && given['delivery.mode'] !== 'relay') {
    throw new UsageError(`${ofRelay} needs --mode relay`)
  }
  const passwordFile = input.text(nameOf(PASSWORD_FILE_FLAG))
  return {
    given,
    secretFiles: passwordFile === undefined ? {} : { 'delivery.relay.password': passwordFile },
    address: readAddress(input),
  }
}

function readMode(input: Input): GivenSettings {
  const mode = input.choice('mode', MODES)
  return mode === undefined ? {} : { 'delivery.mode': mode }
}

function readRelay(input: Input): GivenSettings {
  const tls = input.choice('relayTls', TLS_MODES)
  const given = {
    ...(tls === undefined ? {} : { 'delivery.relay.tls': tls }),
    ...readKey(input, '--relay-port', 'delivery.relay.port'),
  }
  const needsPort = input.text('relayHost') !== undefined && !('delivery.relay.port' in given)
  return needsPort ? { ...given, 'delivery.relay.port': RELAY_PORTS[tls ?? 'starttls'] } : given
}

/**
 * The settings of the mail listeners. Submission needs a certificate: of ACME, or of files. With
 * --inbound, both listeners use the files of `inbound`.
 */
function listeners(input: Input): GivenSettings {
  const [hasInbound, hasSubmission] = [input.has('inbound'), input.has('submission')]
  const needsFiles = hasSubmission && input.text('acmeEmail') === undefined
  const section = hasInbound ? 'inbound' : 'submission'
  return {
    ...(hasInbound ? { 'inbound.listen': ['0.0.0.0:25'] } : {}),
    ...(hasSubmission ? { 'submission.listen': ['0.0.0.0:587', 'tls://0.0.0.0:465'] } : {}),
    ...(needsFiles
      ? { [`${section}.tls_cert`]: 'cert.pem', [`${section}.tls_key`]: 'key.pem' }
      : {}),
  }
}

function readAddress(input: Input): string | undefined {
  const given = input.text('user')
  if (given === undefined) {
    if (input.text('password') === undefined && !input.has('passwordStdin')) return undefined
    throw new UsageError('--password and --password-stdin belong to --user')
  }
  const parsed = parseShownAddress(given)
  if (parsed === undefined) throw new UsageError('--user: expected an email address')
  return parsed.address
}

function readKey(input: Input, flag: string, key: SettingKey): GivenSettings {
  const given = input.text(nameOf(flag))
  if (given === undefined) return {}
  const { kind } = settingOf(key)
  const value = kind.read(kind.fromText(given))
  if (value === undefined) throw new UsageError(`${flag}: expected ${kind.expected}`)
  return { [key]: kind.show(value) }
}

function nameOf(flag: string): string {
  return flag.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

/**
 * Lists the DNS records and ports that the operator has to set up around a new server. Empty in
 * sandbox mode, which sends no mail.
 */
export function describeServer(config: Server): string[] {
  if (config.delivery.mode === 'sandbox') return []
  return [...describeRecords(config), '', ...describePorts(config)]
}

function listServerRecords({ delivery, inbound }: Server): ServerRecord[] {
  const { hostname, returnPathDomain, mode } = delivery
  const address = { name: hostname, type: 'A', value: 'the IPv4 address of this machine' }
  if (mode === 'relay' && inbound.listen.length === 0) return [address]
  return [
    address,
    { name: hostname, type: 'AAAA', value: 'its IPv6 address, if it sends from one' },
    { name: 'each address', type: 'PTR', value: hostname },
    { name: hostname, type: 'TXT', value: 'v=spf1 a -all' },
    { name: returnPathDomain, type: 'MX', value: `10 ${hostname}` },
    { name: returnPathDomain, type: 'TXT', value: `v=spf1 a:${hostname} -all` },
  ]
}

function describeRecords(config: Server): string[] {
  const rows = listServerRecords(config).map(({ name, type, value }) => [name, type, value])
  return [
    'DNS records of the server (the provider of the machine sets PTR):',
    '',
    formatTable(['NAME', 'TYPE', 'VALUE'], rows, ''),
  ]
}

function describePorts({ delivery, inbound, submission, http, acme, baseUrl }: Server): string[] {
  const web = new URL(baseUrl)
  // The default base_url, on loopback, does not show at which port the server is reached.
  const webPort = isLoopbackHost(web.hostname)
    ? String(http.listen.port)
    : web.port || (web.protocol === 'https:' ? '443' : '80')
  const incoming = [
    webPort,
    ...[...(acme?.listen ?? []), ...inbound.listen, ...submission.listen].map(({ port }) => port),
  ]
  const outgoing = [
    `${delivery.relay?.port ?? delivery.port} (mail)`,
    '53 (DNS)',
    ...(acme === null ? [] : [`${new URL(acme.directoryUrl).port || '443'} (certificates)`]),
  ]
  const lines = [
    `Ports to open: in ${[...new Set(incoming.map(String))].join(', ')}; out ${outgoing.join(', ')}.`,
  ]
  if (web.protocol === 'https:' && String(http.listen.port) !== webPort) {
    lines.push(
      `HTTP listens at ${http.listen.host}:${http.listen.port}: serve ${baseUrl} with a proxy, or set http.listen and a certificate.`,
    )
  }
  return lines
}
