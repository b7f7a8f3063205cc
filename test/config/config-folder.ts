/** A folder with a configuration file, and functions that load it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import { type LoadOptions, loadConfig } from '../../src/config/load.ts'
import { ConfigError, type ConfigProblem } from '../../src/config/problems.ts'

/** Creates a folder that is removed at the end of the test file. */
export function makeFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'pillarbox-config-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export type ConfigFolder = {
  folder: string
  file: string
  load(toml: string | null, env?: NodeJS.ProcessEnv): Config
  problems(toml: string | null, env?: NodeJS.ProcessEnv): ConfigProblem[]
  options(env?: NodeJS.ProcessEnv): LoadOptions
}

/** `toml` null: without a file. The system's file is replaced by one that does not exist. */
export function makeConfigFolder(): ConfigFolder {
  const folder = makeFolder()
  const file = path.join(folder, 'pillarbox.toml')
  const options = (env: NodeJS.ProcessEnv = {}) => ({
    env,
    cwd: folder,
    systemFile: path.join(folder, 'etc', 'pillarbox.toml'),
  })
  const load: ConfigFolder['load'] = (toml, env) => {
    if (toml === null) rmSync(file, { force: true })
    else writeFileSync(file, toml)
    return loadConfig(options(env))
  }
  const problems: ConfigFolder['problems'] = (toml, env) => {
    try {
      load(toml, env)
    } catch (error) {
      if (error instanceof ConfigError) return [...error.problems]
      throw error
    }
    return []
  }
  return { folder, file, load, problems, options }
}
