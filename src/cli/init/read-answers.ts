/** The answers of `init` as options, for a set-up without a person. */
import { SYSTEM_FILE } from '../../config/layers/file.ts'
import { type SettingKey, settingOf } from '../../config/settings.ts'
import { parseShownAddress } from '../../formats/address/named-mailbox.ts'
import { type Input, UsageError } from '../engine/command.ts'
import { STATE_FOLDER } from '../systemd/unit.ts'
import type { Given } from './ask-settings.ts'

const MODES = ['sandbox', 'direct', 'relay'] as const
const TLS_MODES = ['starttls', 'implicit', 'none'] as const
const RELAY_PORTS = { starttls: 587, implicit: 465, none: 25 } as const

/** Options whose value is that of a key. */
const KEYS: readonly (readonly [flag: string, key: SettingKey])[] = [
  ['--base-url', 'base_url'],
  ['--data-dir', 'data_dir'],
  ['--hostname', 'delivery.hostname'],
  ['--relay-host', 'delivery.relay.host'],
  ['--relay-username', 'delivery.relay.username'],
  ['--acme-email', 'acme.email'],
  ['--backup-dir', 'backup.dir'],
]
const TEXTS = [
  ...KEYS.map(([flag]) => nameOf(flag)),
  ...['mode', 'relayPort', 'relayTls', 'relayPasswordFile', 'user', 'password'],
]
const PASSWORD_FILE_FLAG = '--relay-password-file'
const RELAY_FLAGS = [
  ...['--relay-host', '--relay-port', '--relay-tls', '--relay-username', PASSWORD_FILE_FLAG],
]
const FLAGS = ['inbound', 'submission', 'https', 'passwordStdin', 'yes']

export type GivenAnswers = {
  given: Given
  /** Files of secrets, by the key that they are for. */
  secretFiles: Partial<Record<SettingKey, string>>
  /** Of the first user; undefined: none is created. */
  address: string | undefined
}

/** Whether any option answers a question, so that nothing is asked. */
export function isAnswered(input: Input): boolean {
  return (
    TEXTS.some((name) => input.text(name) !== undefined) || FLAGS.some((name) => input.has(name))
  )
}

/** The option that sets a key; undefined: none does. */
export function optionOfKey(key: string): string | undefined {
  if (key === 'delivery.relay.password') return PASSWORD_FILE_FLAG
  return KEYS.find(([, each]) => each === key)?.[0]
}

/** `file`: the file that is written. @throws UsageError */
export function readAnswers(input: Input, file: string): GivenAnswers {
  const given: Given = {
    // The unit lets the service write this folder.
    ...(file === SYSTEM_FILE ? { data_dir: STATE_FOLDER } : {}),
    ...Object.assign({}, ...KEYS.map(([flag, key]) => readKey(input, flag, key))),
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

function readMode(input: Input): Given {
  const mode = input.choice('mode', MODES)
  return mode === undefined ? {} : { 'delivery.mode': mode }
}

function readRelay(input: Input): Given {
  const tls = input.choice('relayTls', TLS_MODES)
  const given = {
    ...(tls === undefined ? {} : { 'delivery.relay.tls': tls }),
    ...readKey(input, '--relay-port', 'delivery.relay.port'),
  }
  const needsPort = input.text('relayHost') !== undefined && !('delivery.relay.port' in given)
  return needsPort ? { ...given, 'delivery.relay.port': RELAY_PORTS[tls ?? 'starttls'] } : given
}

/** Submission needs a certificate, of ACME or of `inbound`; with --inbound both use that of `inbound`. */
function listeners(input: Input): Given {
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

function readKey(input: Input, flag: string, key: SettingKey): Given {
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
