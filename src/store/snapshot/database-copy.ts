/**
 * Opens a copy of the database that no server uses, of any schema, without migrating it: the database of
 * a backup, unpacked into a temporary file.
 */
import { openConnection } from '../connection.ts'
import { StoreDb } from '../database.ts'
import { openError } from '../database-error.ts'
import type { Reader } from '../store.ts'
import { listTables, quickCheck } from './integrity.sqlite.ts'

export type DatabaseCopy = {
  /** The number of its last migration. */
  schema: number
  read: Reader
  /** The names of its tables; views are none. */
  listTables(): string[]
  /** SQLite's check of the whole file. Returns the faults. */
  check(): string[]
  close(): void
}

/** @throws AppError DATABASE_ERROR when the file is no database */
export function openDatabaseCopy(path: string, nativeBinding?: string): DatabaseCopy {
  try {
    const connection = openConnection({ path, nativeBinding, busyTimeoutMs: 0 })
    return {
      schema: Number(connection.value('PRAGMA user_version')()),
      read: new StoreDb(connection.run) as Reader,
      listTables: () => listTables(connection),
      check: () => quickCheck(connection),
      close: connection.close,
    }
  } catch (error) {
    throw openError(error, path)
  }
}
