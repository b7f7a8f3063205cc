/**
 * Writes a configuration file to be edited. At a terminal, without options, it asks for what a server
 * needs, creates the first user, and says what to set up around the server. Scripts give options and are
 * asked nothing. An existing file is not changed.
 */
import { existsSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import path from 'node:path'
import { FILE_NAME } from '../../config/layers/file.ts'
import { type SettingKey, settingOf } from '../../config/settings.ts'
import { formatNewFile } from '../../config/values/toml-text.ts'
import { AppError } from '../../errors.ts'
import { createUser } from '../../features/accounts/users/users.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from '../engine/command.ts'
import { findFolderOwner } from '../engine/file-owner.ts'
import { escapeControls } from '../engine/text.ts'
import { askSettings, type Given } from './ask-settings.ts'
import { describeServer } from './describe-server.ts'

const MODES = ['sandbox', 'direct', 'relay'] as const

const OPTIONS = ['hostname', 'baseUrl', 'dataDir', 'mode'] as const
const FLAGS = ['inbound', 'submission', 'yes'] as const

export async function initCommand(context: CommandContext, input: Input): Promise<Result> {
  const { terminal, configPath } = context
  const file = path.resolve(terminal.cwd, configPath ?? FILE_NAME)
  return mayAsk(context, input) ? askAndInstall(context, file) : writeGiven(file, input)
}

function mayAsk({ terminal, isJson }: CommandContext, input: Input): boolean {
  const isAtTerminal = terminal.stdin.isTTY === true && terminal.stdout.isTTY === true
  const isGiven =
    OPTIONS.some((name) => input.text(name) !== undefined) || FLAGS.some((name) => input.has(name))
  return isAtTerminal && !isJson && !isGiven
}

async function askAndInstall(context: CommandContext, file: string): Promise<Result> {
  refuseExisting(file)
  const { given, user } = await askSettings(context.terminal, file)
  await writeNew(file, formatNewFile(given))
  const written = { ...context, configPath: file }
  const created = await withCore(written, async (core) => {
    const { config } = core
    const { password } = await createUser(core, { ...user, isOperator: true })
    return { password, server: describeServer(config) }
  }).catch((error: unknown) => {
    context.terminal.stderr.write(`${file} was written, but the first user was not created.\n`)
    throw error
  })
  const { password, server } = created
  const lines = [
    `${file} was written, and ${escapeControls(user.address)} is its first operator.`,
    ...(password === undefined ? [] : [`Password, shown only this once: ${password}`]),
    '',
    ...server,
    ...(server.length === 0 ? [] : ['']),
    ...listLastSteps(context, given),
  ]
  return { json: { file }, text: lines.join('\n') }
}

function listLastSteps({ configPath }: CommandContext, given: Given): string[] {
  const option = configPath === undefined ? '' : ` --config ${configPath}`
  const start =
    given['delivery.mode'] === 'sandbox'
      ? `pillarbox${option} serve`
      : `pillarbox${option} systemd --install`
  return [`Next: pillarbox${option} config check && ${start}`]
}

async function writeGiven(file: string, input: Input): Promise<Result> {
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

function refuseExisting(file: string): void {
  if (existsSync(file)) throw alreadyExists(file)
  const folder = path.dirname(file)
  if (!existsSync(folder)) throw new UsageError(`the folder ${folder} does not exist`)
}

function alreadyExists(file: string, cause?: unknown): AppError {
  return new AppError('CONFLICT', `${file} already exists and was not changed.`, { cause })
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
    throw alreadyExists(file, error)
  }
}
