/**
 * Checks whether a server holds the lock of a database (`serve-lock.ts`), without taking the lock.
 */
import { existsSync } from 'node:fs'
import { type Connection, openConnection } from '../connection.ts'
import { isBusy, openError } from '../database-error.ts'
import { lockFileOf } from './lock-file.ts'

/** @throws AppError DATABASE_ERROR when the lock file cannot be read */
export function isServed(databaseFile: string, nativeBinding?: string): boolean {
  const { file: path } = lockFileOf(databaseFile)
  if (!existsSync(path)) return false
  let connection: Connection | undefined
  try {
    connection = openConnection({ path, nativeBinding, isReadOnly: true, busyTimeoutMs: 0 })
    connection.value('SELECT count(*) FROM sqlite_schema')()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw openError(error, path)
  } finally {
    connection?.close()
  }
}
