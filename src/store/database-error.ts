/**
 * What SQLite throws, and what of it is told to whom: strangers hear that the database cannot be
 * used (`AppError`), the operator at the command line which file and why (`describeDatabaseError`).
 */
import { AppError, describeError } from '../errors.ts'

const UNAVAILABLE_TEXT = 'The database cannot be used at the moment.'

/** Result codes that say something of the disk, the file or other processes, not of the query. */
const UNAVAILABLE_CODE =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM|CORRUPT|NOTADB|CANTOPEN|READONLY|PERM|PROTOCOL|INTERRUPT)/

/** Of these, what the disk or the file says: waiting for others would not help. */
const STORAGE_FAULT_CODE = /^SQLITE_(FULL|IOERR|NOMEM|CORRUPT|NOTADB|CANTOPEN|READONLY|PERM)/

/** The symbolic result code of SQLite (`SQLITE_FULL`), or '' for any other thrown value. */
export function sqliteCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : ''
}

/** Another connection holds the lock that was asked for. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error).startsWith('SQLITE_BUSY')
}

/** The disk is full, the file is broken or out of reach; `error` as thrown by SQLite or by us. */
export function isStorageFault(error: unknown): boolean {
  return STORAGE_FAULT_CODE.test(sqliteCode(error instanceof AppError ? error.cause : error))
}

/** What a failing query throws: DATABASE_ERROR where the store is at fault, else the error itself. */
export function queryError(error: unknown, file: string): unknown {
  return UNAVAILABLE_CODE.test(sqliteCode(error)) ? databaseError(error, file) : error
}

/** DATABASE_ERROR (503): nothing of what was asked has been done. */
export function databaseError(cause: unknown, file: string): AppError {
  if (cause instanceof AppError) return cause
  // As errors of the system name their file.
  const named = cause instanceof Error ? Object.assign(cause, { path: file }) : cause
  return new AppError('DATABASE_ERROR', UNAVAILABLE_TEXT, { cause: named })
}

/** Whether a later try may succeed: the store refused the work, and did nothing of it. */
export function isTransientDatabaseError(error: unknown): boolean {
  return error instanceof AppError && error.code === 'DATABASE_ERROR'
}

/** Nobody is served yet: whoever starts the program may read what is wrong. */
export function openError(error: unknown, file: string): unknown {
  if (sqliteCode(error) === '') return error
  const reason = `The database ${file} cannot be opened: ${reasonOf(error)}.`
  return new AppError('DATABASE_ERROR', reason, { cause: error })
}

/**
 * For the operator, never for strangers: the file and SQLite's reason behind a DATABASE_ERROR.
 * Undefined for any other error, and for one that names them itself.
 */
export function describeDatabaseError(error: unknown): string | undefined {
  if (!(error instanceof AppError) || error.code !== 'DATABASE_ERROR') return undefined
  const { cause } = error
  if (!(cause instanceof Error) || !('path' in cause)) return undefined
  return `The database ${cause.path} cannot be used: ${reasonOf(cause)}.`
}

function reasonOf(error: unknown): string {
  const code = sqliteCode(error)
  return code === '' ? describeError(error) : `${describeError(error)} (${code})`
}
