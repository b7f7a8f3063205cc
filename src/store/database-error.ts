import { AppError } from '../errors.ts'

const text = 'The database cannot be used at the moment.'

/** Result codes that say something of the disk, the file or other processes, not of the query. */
const unavailable =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM|CORRUPT|NOTADB|CANTOPEN|READONLY|PERM|PROTOCOL|INTERRUPT)/

/** The symbolic result code of SQLite (`SQLITE_FULL`), or '' for any other thrown value. */
export function sqliteCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : ''
}

/** Another connection holds the lock that was asked for. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error).startsWith('SQLITE_BUSY')
}

/** What a failing query throws: DATABASE_ERROR where the store is at fault, else the error itself. */
export function queryError(error: unknown): unknown {
  return unavailable.test(sqliteCode(error)) ? databaseError(error) : error
}

/** DATABASE_ERROR (503): nothing of what was asked has been done. */
export function databaseError(cause: unknown): AppError {
  return cause instanceof AppError ? cause : new AppError('DATABASE_ERROR', text, { cause })
}
