/** `backup`: makes a backup, whether a server is running or not. */
import { setPriority } from 'node:os'
import path from 'node:path'
import { now } from '../base/clock.ts'
import { AppError, describeError, hasCode } from '../base/errors.ts'
import { nativeBindingPath } from '../config/addon.ts'
import { quoteWord } from '../config/shell-word.ts'
import type { Sink } from '../features/operation/backup/archive/write-archive.ts'
import { type Backup, createBackup } from '../features/operation/backup/create/create-backup.ts'
import { type BackupAttempt, recordBackup } from '../features/operation/backup/record.ts'
import { isAnotherRunning } from '../store/snapshot/backup-lock.ts'
import { hasCurrentSchema } from '../store/snapshot/unmigrated.ts'
import { requireAccess, requireWritable } from './engine/access.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from './engine/command.ts'
import { formatCommand } from './engine/command-line.ts'
import { asFileOwner } from './engine/file-owner.ts'
import { requireDatabase } from './engine/require-database.ts'
import { writeOut } from './engine/terminal.ts'
import { escapeControls, formatFields } from './engine/text.ts'

/** The niceness of the command, so that a running server gets the processor first. */
const LOW_PRIORITY = 5
const MIB = 1024 * 1024

/**
 * Runs `backup`. With `-` in place of a file, the archive goes to standard output and the report to
 * standard error.
 */
export async function backupCommand(context: CommandContext, input: Input): Promise<Result> {
  const { terminal } = context
  const [given = ''] = input.args
  if (given === '-' && terminal.stdout.isTTY === true) throw noTerminal()
  const loaded = await context.configuration.load()
  requireAccess(loaded.config)
  requireDatabase(loaded, terminal)
  const file = given === '-' ? given : path.resolve(terminal.cwd, given)
  const request = {
    to: file === '-' ? writerTo(terminal) : file,
    withoutSecret: input.has('withoutSecret'),
  }
  const isFinal = terminal.isWholeProcess
  if (isFinal === true && process.platform !== 'win32') setPriority(LOW_PRIORITY)
  const attempt = { origin: 'command', file, startedAt: now() } as const
  // With --scheduled the server records the attempt itself.
  const keep = input.has('scheduled') ? async () => undefined : record
  const make = async () => {
    const create = async () => {
      if (file !== '-') requireWritable(path.dirname(file), adviseStream(context, file))
      return createBackup({ loaded, now }, request)
    }
    const made = await create().catch(async (error: unknown) => {
      if (isAnotherRunning(error)) throw error
      const failed = { endedAt: now(), error: describeError(error), bytes: 0, databaseBytes: 0 }
      // If recording this failed backup fails too, the error of the backup is the one to show.
      await keep(context, { ...attempt, ...failed }).catch(() => undefined)
      throw error
    })
    const { bytes, databaseBytes } = made
    const ended = { ...attempt, bytes, databaseBytes, endedAt: now(), error: null }
    // If only the record fails, the backup has not failed: its file is complete and verified.
    const unrecorded = await keep(context, ended).then(() => null, describeError)
    return { made, unrecorded }
  }
  const { made, unrecorded } = await asFileOwner(loaded.config, make, { isFinal })
  const result = report(file, made, {
    ...request,
    unrecorded,
    verify: formatCommand(['verify'], context.configPath),
  })
  if (file !== '-') return result
  terminal.stderr.write(`${context.isJson ? JSON.stringify(result.json) : result.text}\n`)
  return null
}

function noTerminal(): UsageError {
  return new UsageError(
    'standard output is a terminal: write "(umask 077; pillarbox backup - > FILE)"',
  )
}

/**
 * Advises `backup - > FILE`: the shell then opens the file as the user who typed the command. The
 * umask keeps other users from reading the file.
 */
function adviseStream({ configPath }: CommandContext, file: string): string {
  return `Use "(umask 077; ${formatCommand(['backup', '-'], configPath)} > ${quoteWord(file)})", or a folder that this user may write to.`
}

/**
 * Records the attempt in the database, but not in one of an older program: opening it would migrate
 * it.
 */
async function record(context: CommandContext, attempt: BackupAttempt): Promise<void> {
  const { config } = await context.configuration.load()
  if (!hasCurrentSchema(config.database.file, nativeBindingPath(config.dataDir))) return
  await withCore(context, (core) => recordBackup(core, attempt))
}

function writerTo(terminal: CommandContext['terminal']): Sink {
  return async (chunks) => {
    for await (const chunk of chunks) {
      await writeOut(terminal, chunk).catch((error: unknown) => {
        if (!hasCode(error, 'EPIPE')) throw error
        throw new AppError('CONFLICT', 'The reader of the backup has ended.')
      })
    }
  }
}

/**
 * The output of the command. `unrecorded`: why the database has no record of the backup; null if it
 * has one.
 */
function report(
  file: string,
  made: Backup,
  {
    withoutSecret,
    unrecorded,
    verify,
  }: { withoutSecret: boolean; unrecorded: string | null; verify: string },
) {
  const { bytes, databaseBytes, generation, seq, sha256, durationMs, outside } = made
  const isStream = file === '-'
  const lines = [
    isStream
      ? `The backup was written to standard output. It cannot be read back there: run "${verify}" on the file.`
      : `${file} was written and read back.`,
    formatFields({
      size: `${formatSize(bytes)} (database ${formatSize(databaseBytes)}, files ${made.files})`,
      sha256,
      generation: String(generation),
      'newest event': String(seq),
      time: `${(durationMs / 1000).toFixed(1)} s`,
    }),
    ...(withoutSecret
      ? ['The secrets are not inside: keep them elsewhere, or nobody can restore this backup.']
      : []),
    ...(unrecorded === null ? [] : [`The database has no record of this backup: ${unrecorded}`]),
    ...(outside.length > 0 ? ['Not inside, copy them as well:'] : []),
    ...outside.map(({ key, place }) => `  ${key}  ${place}`),
  ]
  const verified = !isStream
  const json = {
    file,
    bytes,
    databaseBytes,
    generation,
    seq,
    sha256,
    durationMs,
    verified,
    outside,
  }
  return {
    json,
    text: lines.map((line) => line.split('\n').map(escapeControls).join('\n')).join('\n'),
  }
}

function formatSize(bytes: number): string {
  return bytes < MIB ? `${bytes} bytes` : `${(bytes / MIB).toFixed(1)} MB`
}
