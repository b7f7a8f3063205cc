/**
 * Loads the configuration: the environment, then one TOML file (`--config`, else ./pillarbox.toml,
 * else /etc/pillarbox/pillarbox.toml, else none), then the defaults. All problems are reported at
 * once. Relative paths start at the file's folder.
 */
import path from 'node:path'
import { buildConfig } from './build.ts'
import { checkCertificates } from './certificates/check.ts'
import type { Config } from './config.ts'
import { findContradictions } from './contradictions.ts'
import { deriveValues } from './derive.ts'
import { type Origins, takeEffect } from './layers/effective.ts'
import { readEnvironment } from './layers/environment.ts'
import { type FileSearch, readConfigFile, readToml } from './layers/file.ts'
import type { Layer } from './layers/given.ts'
import { ConfigError, type Problem } from './problems.ts'
import type { SettingValues } from './settings.ts'

export type LoadOptions = FileSearch & {
  env: NodeJS.ProcessEnv
  /** Whether the files of certificates count, which only a server needs; true by default. */
  checksCertificates?: boolean
}

export type Loaded = {
  config: Config
  /** The effective value of every key, with defaults and absolute paths. */
  values: SettingValues
  origins: Origins
}

/** @throws ConfigError with every problem */
export function loadConfig(options: LoadOptions): Config {
  return loadSettings(options).config
}

/** `loadConfig` with the value and the origin of every key. @throws ConfigError */
export function loadSettings(options: LoadOptions): Loaded {
  return loadFound(readConfigFile(options), options)
}

/**
 * The configuration of a file with this text, which need not exist; of the file alone, without the environment.
 * @throws ConfigError
 */
export function loadText(found: ConfigText): Config {
  const options = { env: {}, cwd: path.dirname(found.file), checksCertificates: false }
  return loadFound(found, options).config
}

/** The problems of `loadText`. */
export function findProblems(found: ConfigText): readonly Problem[] {
  try {
    loadText(found)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

type ConfigText = { file: string; text: string }

function loadFound(found: ConfigText | null, options: LoadOptions): Loaded {
  const folder = found === null ? options.cwd : path.dirname(found.file)
  const layers: Layer[] = [readEnvironment(options.env)]
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
