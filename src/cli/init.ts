/** Writes a configuration file for a person to edit; one that exists stays as it is. */
import { type FileHandle, open } from 'node:fs/promises'
import path from 'node:path'
import { fileName } from '../config/layers/file.ts'
import { type SettingKey, settingOf } from '../config/settings.ts'
import type { TomlValue } from '../config/values/kinds.ts'
import { formatNewFile } from '../config/values/toml-text.ts'
import { AppError } from '../errors.ts'
import { type Context, type Input, type Result, UsageError } from './engine/command.ts'
import { findFolderOwner } from './engine/file-owner.ts'

const modes = ['sandbox', 'direct', 'relay'] as const

type Given = Partial<Record<SettingKey, TomlValue>>

export async function init({ terminal, configPath }: Context, input: Input): Promise<Result> {
  const file = path.resolve(terminal.cwd, configPath ?? fileName)
  const given: Given = {
    ...readOption(input, '--base-url', 'base_url'),
    ...readOption(input, '--data-dir', 'data_dir'),
    ...readOption(input, '--hostname', 'delivery.hostname'),
    ...readMode(input),
    ...listeners(input),
  }
  await writeNew(file, formatNewFile(given))
  const next = [...listNextSteps(given), 'Then run "pillarbox config check" and "pillarbox serve".']
  return { json: { file }, text: [`${file} is written.`, ...next].join('\n') }
}

/** What is left to do by hand, as far as the options tell. */
function listNextSteps(given: Given): string[] {
  const certificates = (['inbound.tls_cert', 'submission.tls_cert'] as const).filter(
    (key) => given[key] !== undefined,
  )
  return [
    ...(given['delivery.mode'] === 'relay' ? ['Name the smarthost in [delivery.relay].'] : []),
    ...certificates.map((key) => `Put the certificate and its key where ${key} and .tls_key say.`),
    ...(given.base_url === undefined ? ['Set base_url to the public address of the API.'] : []),
  ]
}

function readMode(input: Input): Given {
  const mode = input.choice('mode', modes)
  return mode === undefined ? {} : { 'delivery.mode': mode }
}

/** Submission needs a certificate; the one of `inbound` serves both. */
function listeners(input: Input): Given {
  const [hasInbound, hasSubmission] = [input.has('inbound'), input.has('submission')]
  const room = hasInbound ? 'inbound' : 'submission'
  return {
    ...(hasInbound ? { 'inbound.listen': ['0.0.0.0:25'] } : {}),
    ...(hasSubmission ? { 'submission.listen': ['0.0.0.0:587', 'tls://0.0.0.0:465'] } : {}),
    ...(hasSubmission ? { [`${room}.tls_cert`]: 'cert.pem', [`${room}.tls_key`]: 'key.pem' } : {}),
  }
}

function readOption(input: Input, flag: string, key: SettingKey): Given {
  const name = flag.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
  const given = input.text(name)
  if (given === undefined) return {}
  const { kind } = settingOf(key)
  const value = kind.read(given)
  if (value === undefined) throw new UsageError(`${flag}: expected ${kind.expected}`)
  return { [key]: kind.show(value) }
}

async function writeNew(file: string, text: string): Promise<void> {
  const handle = await openNew(file)
  try {
    await handle.writeFile(text)
    const owner = findFolderOwner(path.dirname(file))
    // By its handle: whoever owns the folder may have put a link there meanwhile.
    if (owner !== undefined) await handle.chown(owner.uid, owner.gid)
  } finally {
    await handle.close()
  }
}

async function openNew(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', 0o600)
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
