/**
 * Loads the configuration: the environment, then one TOML file (`--config`, else ./pillarbox.toml,
 * else /etc/pillarbox/pillarbox.toml, else none), then the defaults. All problems are reported at
 * once. Relative paths start at the file's folder.
 */
import os from 'node:os'
import path from 'node:path'
import { buildConfig } from './build.ts'
import { checkCertificates } from './certificates/check.ts'
import { defaultDomains } from './certificates/ordered.ts'
import type { Config } from './config.ts'
import { findContradictions } from './contradictions.ts'
import { type SettingOrigins, takeEffect } from './layers/effective.ts'
import { type FileSearch, readConfigFile, readToml } from './layers/file.ts'
import { type ConfigLayer, type GivenValue, unknownKey } from './layers/given.ts'
import { ConfigError, type ConfigProblem } from './problems.ts'
import {
  isSettingKey,
  type SettingKey,
  type SettingValues,
  secretKeyOfFile,
  settingKeys,
  settingOf,
} from './settings.ts'
import { hostName } from './values/kinds.ts'

export type LoadOptions = FileSearch & {
  env: NodeJS.ProcessEnv
  /** Whether the files of certificates count, which only a server needs; true by default. */
  checksCertificates?: boolean
}

export type LoadedConfig = {
  config: Config
  /** The effective value of every key, with defaults and absolute paths. */
  values: SettingValues
  origins: SettingOrigins
}

type ConfigText = { file: string; text: string }

const RELAY_PORTS = { starttls: 587, implicit: 465, none: 25 }
const VARIABLE_PREFIX = 'PILLARBOX_'
/** Not a setting: the sandbox's welcome text uses this variable for the secret key. */
const API_KEY_VARIABLE = `${VARIABLE_PREFIX}KEY`

/** @throws ConfigError with every problem */
export function loadConfig(options: LoadOptions): Config {
  return loadSettings(options).config
}

/** `loadConfig` with the value and the origin of every key. @throws ConfigError */
export function loadSettings(options: LoadOptions): LoadedConfig {
  return loadFound(readConfigFile(options), options)
}

/**
 * Loads the text of a file, which need not exist, as the only configuration: the environment does not
 * count. @throws ConfigError
 */
export function loadText(found: ConfigText): Config {
  const options = { env: {}, cwd: path.dirname(found.file), checksCertificates: false }
  return loadFound(found, options).config
}

/** Returns the problems for which `loadText` would throw. */
export function findProblems(found: ConfigText): readonly ConfigProblem[] {
  try {
    loadText(found)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

function loadFound(found: ConfigText | null, options: LoadOptions): LoadedConfig {
  const folder = found === null ? options.cwd : path.dirname(found.file)
  const layers: ConfigLayer[] = [readEnvironment(options.env)]
  if (found !== null) layers.push(readToml(found))
  const { values: given, origins, problems } = takeEffect(layers, folder)
  const values = deriveValues(given, folder)
  const broken = new Set(problems.map(({ key }) => key.replace(/_file$/, '')))
  problems.unshift(...layers.flatMap((layer) => layer.problems))
  problems.push(...findContradictions(values, (key) => broken.has(key)))
  if (options.checksCertificates !== false) {
    problems.push(...checkCertificates(values, found?.file ?? null))
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return { config: buildConfig(values, found?.file ?? null), values, origins }
}

/** Adds defaults that depend on other settings or on the system, and makes paths absolute. */
function deriveValues(values: SettingValues, folder: string): SettingValues {
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

/**
 * Reads settings from the environment: `delivery.mode` is PILLARBOX_DELIVERY__MODE. A list is
 * separated by commas or written as a JSON array.
 */
function readEnvironment(env: NodeJS.ProcessEnv): ConfigLayer {
  const given = new Map<string, GivenValue>()
  const problems: ConfigProblem[] = []
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(VARIABLE_PREFIX) || name === API_KEY_VARIABLE || text === undefined)
      continue
    const key = name.slice(VARIABLE_PREFIX.length).toLowerCase().replaceAll('__', '.')
    if (name !== variableOf(key)) problems.push(unknownVariable(key, name))
    else if (isSettingKey(key)) {
      given.set(key, { value: settingOf(key).kind.fromText(text), where: name })
    } else if (secretKeyOfFile(key)) given.set(key, { value: text, where: name })
    else problems.push(unknownVariable(key, name))
  }
  return { given, problems }
}

export function variableOf(key: string): string {
  return VARIABLE_PREFIX + key.toUpperCase().replaceAll('.', '__')
}

function unknownVariable(key: string, name: string): ConfigProblem {
  const { meant, ...problem } = unknownKey(key, 'environment')
  const named = { ...problem, key: name }
  return meant === undefined ? named : { ...named, meant: variableOf(meant) }
}
