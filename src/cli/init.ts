/** Writes a configuration file for a person to edit; one that exists stays as it is. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileName } from '../config/file.ts'
import type { TomlValue } from '../config/kinds.ts'
import { type SettingKey, settingOf } from '../config/settings.ts'
import { formatNewFile } from '../config/toml-text.ts'
import { AppError } from '../errors.ts'
import { type Context, type Input, type Result, UsageError } from './command.ts'

export async function init({ terminal, configPath }: Context, input: Input): Promise<Result> {
  const file = path.resolve(terminal.cwd, configPath ?? fileName)
  const text = formatNewFile({
    ...readOption(input, '--base-url', 'base_url'),
    ...readOption(input, '--hostname', 'delivery.hostname'),
  })
  await writeNew(file, text)
  const next = 'Edit it, then run "pillarbox config check" and "pillarbox serve".'
  return { json: { file }, text: `${file} is written. ${next}` }
}

function readOption(
  input: Input,
  flag: string,
  key: SettingKey,
): Partial<Record<SettingKey, TomlValue>> {
  const given = input.text(flag === '--hostname' ? 'hostname' : 'baseUrl')
  if (given === undefined) return {}
  const { kind } = settingOf(key)
  const value = kind.read(given)
  if (value === undefined) throw new UsageError(`${flag}: expected ${kind.expected}`)
  return { [key]: kind.show(value) }
}

async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT') {
      throw new UsageError(
        `there is no folder ${path.dirname(file)} to write ${path.basename(file)} to`,
      )
    }
    if (code !== 'EEXIST') throw error
    throw new AppError('CONFLICT', `${file} exists already and was not touched.`, { cause: error })
  }
}
