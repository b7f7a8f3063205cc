/**
 * Checks which files the user of a command may use: refuses a command early, and explains refused
 * access.
 */
import { accessSync, constants, lstatSync, readdirSync } from 'node:fs'
import path from 'node:path'
import sea from 'node:sea'
import { AppError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import {
  describeUnreadable,
  giveTo,
  isRefused,
  presentUser,
  runAs,
  statOf,
} from '../../config/file-access.ts'
import { quoteWord } from '../../config/shell-word.ts'
import { sqliteCode } from '../../store/database-error.ts'
import { PROGRAM_PLACE } from '../systemd/unit.ts'

const MAX_SHOWN = 5
/** SQLite's codes for a file that this user may not open or write. */
const UNOPENED = /^SQLITE_(CANTOPEN|READONLY|PERM)/

/** @throws AppError FORBIDDEN for a user who cannot read `data_dir` */
export function requireAccess({ dataDir }: Pick<Config, 'dataDir'>): void {
  try {
    accessSync(dataDir, constants.R_OK | constants.X_OK)
  } catch (error) {
    if (!isRefused(error)) return
    const { obstacle, ownerUid } = describeUnreadable(dataDir)
    throw new AppError('FORBIDDEN', `${capitalised(presentUser())} cannot use ${obstacle}.`, {
      suggestion: `${capitalised(runAs(ownerUid, dataDir))}.`,
      cause: error,
    })
  }
}

/** @throws AppError FORBIDDEN with that suggestion if the present user cannot write to `folder` */
export function requireWritable(folder: string, suggestion: string): void {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    if (!isRefused(error)) return
    const text = `${capitalised(presentUser())} cannot write to ${folder}.`
    throw new AppError('FORBIDDEN', text, { suggestion, cause: error })
  }
}

/**
 * Refuses a program whose folder the present user cannot enter, because Node looks for files there
 * while it runs.
 * @throws AppError FORBIDDEN
 */
export function requireReachable(program: string): void {
  if (statOf(program) !== undefined) return
  const { obstacle } = describeUnreadable(program)
  const text = `${capitalised(presentUser())}, who owns the files of the server and as whom commands of root run, cannot enter ${obstacle}, where the program is.`
  const suggestion = sea.isSea()
    ? `Move the executable: mv ${quoteWord(program)} ${PROGRAM_PLACE}`
    : 'Move the program to a folder that every user can enter.'
  throw new AppError('FORBIDDEN', text, { suggestion })
}

/**
 * Adds advice to an error of refused access: the command runs as the owner of the files, so access
 * was refused to this owner, and not to the user who typed the command.
 * @throws the given error
 */
export function explainRefusal(error: unknown): never {
  if (!isRefused(error) || !(error instanceof Error) || !('path' in error)) throw error
  const user = presentUser()
  const advice = `Commands of root run as ${user}, who owns the files of the server: give the file to this user, or choose another place.`
  throw Object.assign(error, { advice })
}

/**
 * Explains an error that comes from other users' files in the present user's `data_dir`. A program
 * that root ran there leaves such files, and the error alone says little.
 * @throws AppError FORBIDDEN for such an error, else the error itself
 */
export function explainStrayFiles({ dataDir }: Pick<Config, 'dataDir'>, error: unknown): never {
  const causes = listRefusals(error)
  const names = causes.length === 0 ? [] : listStray(dataDir)
  if (!causes.some((cause) => isAboutOne(cause, dataDir, names))) throw error
  const more = names.length > MAX_SHOWN ? ' ...' : ''
  const text = `${dataDir} has files that do not belong to ${presentUser()}: ${names.slice(0, MAX_SHOWN).join(', ')}${more}`
  const suggestion = `As root, run "${giveTo(process.geteuid?.() ?? 0, dataDir)}".`
  throw new AppError('FORBIDDEN', text, { suggestion, cause: error })
}

function listRefusals(error: unknown): unknown[] {
  const causes = error instanceof Error ? [error, error.cause] : [error]
  return causes.filter((cause) => isRefused(cause) || isUnopened(cause))
}

function isUnopened(error: unknown): boolean {
  return UNOPENED.test(sqliteCode(error))
}

/**
 * Whether the error may come from one of these files. SQLite does not say which file it cannot
 * open, so it may be any of them. An error without a path, such as a refused port, comes from none.
 */
function isAboutOne(refusal: unknown, dataDir: string, names: readonly string[]): boolean {
  if (isUnopened(refusal)) return names.length > 0
  if (!(refusal instanceof Error) || !('path' in refusal)) return false
  const [name = ''] = path.relative(dataDir, String(refusal.path)).split(path.sep)
  return names.includes(name)
}

/**
 * The names of other users' files in `data_dir`. Empty if `data_dir` itself belongs to another
 * user: the files may then be that user's own.
 */
function listStray(dataDir: string): string[] {
  const uid = process.geteuid?.()
  if (lstatSync(dataDir, { throwIfNoEntry: false })?.uid !== uid) return []
  return readdirSync(dataDir).filter((name) => {
    const found = lstatSync(path.join(dataDir, name), { throwIfNoEntry: false })
    return found !== undefined && found.uid !== uid
  })
}

function capitalised(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
