/**
 * Errors of SQLite and their public form: clients see that the database cannot be used (`AppError`),
 * the operator at the command line sees the file and the reason (`describeDatabaseError`).
 */
import { AppError, describeError } from '../base/errors.ts'

const UNAVAILABLE_TEXT = 'The database cannot be used at the moment.'

/** Result codes about the disk, the file or other processes, not about the query. */
const UNAVAILABLE_CODE =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM|CORRUPT|NOTADB|CANTOPEN|READONLY|PERM|PROTOCOL|INTERRUPT)/

/** Result codes about the disk or the file: waiting does not help. */
const STORAGE_FAULT_CODE = /^SQLITE_(FULL|IOERR|NOMEM|CORRUPT|NOTADB|CANTOPEN|READONLY|PERM)/

/** The symbolic result code of SQLite (`SQLITE_FULL`), or '' for any other thrown value. */
export function sqliteCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : ''
}

/** Whether another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error).startsWith('SQLITE_BUSY')
}

/** Whether the disk is full, or the file is broken or unreachable. Takes SQLite's errors and AppErrors. */
export function isStorageFault(error: unknown): boolean {
  return STORAGE_FAULT_CODE.test(sqliteCode(error instanceof AppError ? error.cause : error))
}

/** Turns an error of a query into a DATABASE_ERROR if it means that the database is unavailable. */
export function queryError(error: unknown, file: string): unknown {
  return UNAVAILABLE_CODE.test(sqliteCode(error)) ? databaseError(error, file) : error
}

/** Makes a DATABASE_ERROR (503): the request had no effect. */
export function databaseError(cause: unknown, file: string): AppError {
  if (cause instanceof AppError) return cause
  // The error names its file, as errors of the file system do.
  const named = cause instanceof Error ? Object.assign(cause, { path: file }) : cause
  return new AppError('DATABASE_ERROR', UNAVAILABLE_TEXT, { cause: named })
}

/** Whether a later try may succeed: the store refused the work, which had no effect. */
export function isTransientDatabaseError(error: unknown): boolean {
  return error instanceof AppError && error.code === 'DATABASE_ERROR'
}

/** The error of a failed start. Its text names the file, because no clients are connected yet. */
export function openError(error: unknown, file: string): unknown {
  if (sqliteCode(error) === '') return error
  const reason = `The database ${file} cannot be opened: ${reasonOf(error)}.`
  return new AppError('DATABASE_ERROR', reason, { cause: error })
}

/**
 * Describes a DATABASE_ERROR for the operator, never for clients: the file and SQLite's reason.
 * Undefined for other errors, and for errors whose text names the file itself.
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
