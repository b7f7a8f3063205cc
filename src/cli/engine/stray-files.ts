/**
 * Files of other users in a `data_dir` that belongs to the present user. A program that root ran there leaves
 * them, and the server cannot open them. The errors that follow say little, so they are replaced.
 */
import { lstatSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import { giveTo, isRefused, presentUser } from '../../config/file-access.ts'
import { sqliteCode } from '../../store/database-error.ts'

const MAX_SHOWN = 5
/** SQLite's codes for a file that this user may not open or write. */
const UNOPENED = /^SQLITE_(CANTOPEN|READONLY|PERM)/

/** @throws AppError FORBIDDEN if an error comes from such files, else the error itself */
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
 * Whether the error may come from one of these files. SQLite does not say which file it cannot open, so any
 * of them may be. An error without a path, such as a refused port, comes from none.
 */
function isAboutOne(refusal: unknown, dataDir: string, names: readonly string[]): boolean {
  if (isUnopened(refusal)) return names.length > 0
  if (!(refusal instanceof Error) || !('path' in refusal)) return false
  const [name = ''] = path.relative(dataDir, String(refusal.path)).split(path.sep)
  return names.includes(name)
}

/**
 * The names of files of other users. Empty if `data_dir` itself belongs to another user, because the files
 * may be that user's.
 */
function listStray(dataDir: string): string[] {
  const uid = process.geteuid?.()
  if (lstatSync(dataDir, { throwIfNoEntry: false })?.uid !== uid) return []
  return readdirSync(dataDir).filter((name) => {
    const found = lstatSync(path.join(dataDir, name), { throwIfNoEntry: false })
    return found !== undefined && found.uid !== uid
  })
}
