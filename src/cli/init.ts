/** Writes a configuration file to be edited. An existing file is not changed. */
import { type FileHandle, open } from 'node:fs/promises'
import path from 'node:path'
import { FILE_NAME } from '../config/layers/file.ts'
import { type SettingKey, settingOf } from '../config/settings.ts'
import type { TomlValue } from '../config/values/kinds.ts'
import { formatNewFile } from '../config/values/toml-text.ts'
import { AppError } from '../errors.ts'
import { type CommandContext, type Input, type Result, UsageError } from './engine/command.ts'
import { findFolderOwner } from './engine/file-owner.ts'

const MODES = ['sandbox', 'direct', 'relay'] as const

type Given = Partial<Record<SettingKey, TomlValue>>

export async function initCommand(
  { terminal, configPath }: CommandContext,
  input: Input,
): Promise<Result> {
  const file = path.resolve(terminal.cwd, configPath ?? FILE_NAME)
  const given: Given = {
    ...readOption(input, '--base-url', 'base_url'),
    ...readOption(input, '--data-dir', 'data_dir'),
    ...readOption(input, '--hostname', 'delivery.hostname'),
    ...readMode(input),
    ...listeners(input),
  }
  await writeNew(file, formatNewFile(given))
  const next = [...listNextSteps(given), 'Then run "pillarbox config check" and "pillarbox serve".']
  return { json: { file }, text: [`${file} was written.`, ...next].join('\n') }
}

/** The steps that the options leave to the operator. */
function listNextSteps(given: Given): string[] {
  const certificates = (['inbound.tls_cert', 'submission.tls_cert'] as const).filter(
    (key) => given[key] !== undefined,
  )
  return [
    ...(given['delivery.mode'] === 'relay'
      ? ['Set host in [delivery.relay] to the smarthost.']
      : []),
    ...certificates.map(
      (key) => `Copy the certificate and its key to the paths in ${key} and .tls_key.`,
    ),
    ...(given.base_url === undefined ? ['Set base_url to the public address of the API.'] : []),
  ]
}

function readMode(input: Input): Given {
  const mode = input.choice('mode', MODES)
  return mode === undefined ? {} : { 'delivery.mode': mode }
}

/** Submission needs a certificate; with --inbound both use the certificate of `inbound`. */
function listeners(input: Input): Given {
  const [hasInbound, hasSubmission] = [input.has('inbound'), input.has('submission')]
  const section = hasInbound ? 'inbound' : 'submission'
  return {
    ...(hasInbound ? { 'inbound.listen': ['0.0.0.0:25'] } : {}),
    ...(hasSubmission ? { 'submission.listen': ['0.0.0.0:587', 'tls://0.0.0.0:465'] } : {}),
    ...(hasSubmission
      ? { [`${section}.tls_cert`]: 'cert.pem', [`${section}.tls_key`]: 'key.pem' }
      : {}),
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
    // Uses the handle: the folder's owner may have replaced the path by a link.
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
      throw new UsageError(`the folder ${path.dirname(file)} does not exist`)
    }
    if (code !== 'EEXIST') throw error
    throw new AppError('CONFLICT', `${file} already exists and was not changed.`, { cause: error })
  }
}
