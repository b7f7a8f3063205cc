/**
 * `init`: writes a configuration file, which the operator may edit. At a terminal, without options,
 * it asks for the settings that a server needs, creates the first user, and says what to set up
 * around the server. Scripts give options and are asked nothing. An existing file is not changed.
 */
import { existsSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import path from 'node:path'
import { AppError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import { FILE_NAME, SYSTEM_FILE } from '../../config/layers/file.ts'
import { findProblems, loadText } from '../../config/load.ts'
import { ConfigError, type ConfigProblem } from '../../config/problems.ts'
import { quoteWord } from '../../config/shell-word.ts'
import { formatNewFile } from '../../config/values/toml-text.ts'
import { checkPassword } from '../../features/tenancy/accounts/passwords/passwords.ts'
import { createUser } from '../../features/tenancy/accounts/users/users.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withConfigFile,
  withCore,
} from '../engine/command.ts'
import { formatCommand } from '../engine/command-line.ts'
import { findFolderOwner } from '../engine/file-owner.ts'
import { findHidden } from '../engine/other-places.ts'
import type { Terminal } from '../engine/terminal.ts'
import { escapeControls } from '../engine/text.ts'
import { readGivenPassword } from '../options/password.ts'
import { askSettings, type FirstUser, type GivenSettings } from './ask-settings.ts'
import { describeServer, isAnswered, optionOfKey, readAnswers } from './read-answers.ts'

export async function initCommand(context: CommandContext, input: Input): Promise<Result> {
  const { terminal, configPath } = context
  const file = path.resolve(terminal.cwd, configPath ?? FILE_NAME)
  const hidden = configPath === undefined ? findHidden(terminal) : undefined
  if (mayAsk(context, input)) {
    if (hidden !== undefined) terminal.stderr.write(`${describeHiding(file, hidden)}\n`)
    return askAndInstall(context, file)
  }
  if (hidden !== undefined && !isAnswered(input)) {
    throw new UsageError(
      `${hidden} exists, and ${file} would hide it from commands in this folder: give --config FILE`,
    )
  }
  return writeGiven({ context, file, hidden }, input)
}

/** The warning that the new file hides another one. `hidden`: the system's configuration file. */
function describeHiding(file: string, hidden: string): string {
  return `${hidden} exists. From now on, commands in this folder use ${file}; for the service, give them --config ${quoteWord(hidden)}`
}

function mayAsk({ terminal, isJson }: CommandContext, input: Input): boolean {
  const isAtTerminal = terminal.stdin.isTTY === true && terminal.stdout.isTTY === true
  return isAtTerminal && !isJson && !isAnswered(input)
}

async function askAndInstall(context: CommandContext, file: string): Promise<Result> {
  refuseExisting(file, context.terminal)
  const { given, user } = await askSettings(context.terminal, file)
  const text = formatNewFile(given)
  const server = describeNext(context, loadText({ file, text }))
  await writeNew(file, text)
  const { lines } = await createFirst(context, file, user)
  return {
    json: { file },
    text: [`${describeWritten(file)}.`, ...lines, ...server].join('\n'),
  }
}

function describeWritten(file: string): string {
  return `${escapeControls(file)} was written`
}

/** The last lines of the output: what to set up around the server, and the next commands. */
function describeNext({ configPath }: CommandContext, config: Config): string[] {
  const server = describeServer(config)
  const call = (...words: string[]) => formatCommand(words, configPath)
  const isTrial = config.delivery.mode === 'sandbox'
  const start = isTrial ? call('serve') : call('systemd', '--install')
  return [
    ...['', ...server, ...(server.length === 0 ? [] : [''])],
    `Next: ${call('config', 'check')} && ${start}`,
    ...(isTrial ? [] : [`On a system without systemd, the last command is ${call('serve')}.`]),
  ]
}

type NewFile = { context: CommandContext; file: string; hidden: string | undefined }

async function writeGiven({ context, file, hidden }: NewFile, input: Input): Promise<Result> {
  const { given, secretFiles, address } = readAnswers(input, file)
  const text = formatNewFile(given, secretFiles)
  refuseExisting(file, context.terminal)
  const problems = findProblems({ file, text }).map(nameOption)
  if (problems.length > 0) throw new ConfigError(problems)
  const password = address === undefined ? undefined : await readPassword(context, input)
  if (password !== undefined) checkPassword(password)
  await writeNew(file, text)
  const server = describeNext(context, loadText({ file, text }))
  const user =
    address === undefined ? null : await createFirst(context, file, { address, password })
  const lines = [
    `${describeWritten(file)}.`,
    ...(hidden === undefined ? [] : [describeHiding(file, hidden)]),
    ...(user?.lines ?? []),
    ...listNextSteps(given, path.dirname(file)),
    ...server,
  ]
  return { json: { file, ...(user && { user: user.json }) }, text: lines.join('\n') }
}

/**
 * Returns the password of the first user; undefined: the command generates one. With --yes nothing
 * is asked.
 */
async function readPassword({ terminal }: CommandContext, input: Input) {
  const isGiven = input.has('passwordStdin') || input.text('password') !== undefined
  return input.has('yes') && !isGiven ? undefined : readGivenPassword(terminal, input)
}

async function createFirst(context: CommandContext, file: string, user: FirstUser) {
  const { email, password } = await withCore(
    { ...withConfigFile(context, file), makesDataDir: true },
    (core) => createUser(core, { ...user, isOperator: true }),
  ).catch((error: unknown) => {
    context.terminal.stderr.write(`${describeWritten(file)}, but the first user was not created.\n`)
    throw error
  })
  const generated = password === undefined ? [] : [`Password, shown only this once: ${password}`]
  return {
    json: { email, ...(password === undefined ? {} : { password }) },
    lines: [`${escapeControls(email)} is the first operator.`, ...generated],
  }
}

function nameOption(problem: ConfigProblem): ConfigProblem {
  const option = optionOfKey(problem.key)
  return option === undefined ? problem : { ...problem, remedy: `the option is ${option}` }
}

/** The files that the mail listeners need if ACME does not make certificates. */
const CERTIFICATE_FILES = (['inbound', 'submission'] as const).flatMap(
  (section) =>
    [
      [`${section}.tls_cert`, 'the certificate'],
      [`${section}.tls_key`, 'its key'],
    ] as const,
)

/** Lists the steps that remain to the operator with these options. */
function listNextSteps(given: GivenSettings, folder: string): string[] {
  return [
    ...CERTIFICATE_FILES.flatMap(([key, name]) => {
      const place = given[key] === undefined ? undefined : path.resolve(folder, String(given[key]))
      return place === undefined || existsSync(place) ? [] : [`Put ${name} into ${place}.`]
    }),
    ...(given.base_url === undefined ? ['Set base_url to the public address of the API.'] : []),
  ]
}

async function writeNew(file: string, text: string): Promise<void> {
  const handle = await openNew(file)
  try {
    await handle.writeFile(text)
    const owner = findFolderOwner(path.dirname(file))
    // The owner is set by the handle, because the owner of the folder may have replaced the path by
    // a link.
    if (owner !== undefined) await handle.chown(owner.uid, owner.gid)
  } finally {
    await handle.close()
  }
}

function refuseExisting(
  file: string,
  { systemFile = SYSTEM_FILE }: Pick<Terminal, 'systemFile'>,
): void {
  if (existsSync(file)) throw alreadyExists(file)
  const folder = path.dirname(file)
  if (existsSync(folder)) return
  const install = formatCommand(['systemd', '--install'])
  const maker = folder === path.dirname(systemFile) ? `; ${install} makes it` : ''
  throw new UsageError(`the folder ${folder} does not exist${maker}`)
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
