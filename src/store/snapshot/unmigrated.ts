/** Reads databases of any schema without opening the store, which would migrate them. */

import { existsSync } from 'node:fs'
import { type Connection, openConnection } from '../connection.ts'
import { StoreDb } from '../database.ts'
import { openError } from '../database-error.ts'
import { readMigrations } from '../migrate.ts'
import type { Reader } from '../store.ts'
import { listStoredTables, quickCheck } from './integrity.sqlite.ts'

export type DatabaseCopy = {
  /** The number of its last migration. */
  schema: number
  read: Reader
  /** The names of its tables, without views. */
  listTables(): string[]
  /** SQLite's check of the whole file. Returns the faults. */
  check(): string[]
  close(): void
}

/**
 * Opens a database that no server uses: that of a backup, unpacked into a temporary file.
 * @throws AppError DATABASE_ERROR when the file is no database
 */
export function openDatabaseCopy(path: string, nativeBinding?: string): DatabaseCopy {
  try {
    const connection = openConnection({ path, nativeBinding, busyTimeoutMs: 0 })
    return {
      schema: Number(connection.value('PRAGMA user_version')()),
      read: new StoreDb(connection.run) as Reader,
      listTables: () => listStoredTables(connection),
      check: () => quickCheck(connection),
      close: connection.close,
    }
  } catch (error) {
    throw openError(error, path)
  }
}

/**
 * Whether the database is there and has all migrations of this program, and no more.
 * @throws AppError DATABASE_ERROR when it cannot be opened
 */
export function hasCurrentSchema(path: string, nativeBinding?: string): boolean {
  return existsSync(path) && schemaOf(path, nativeBinding) === readMigrations().length
}

/**
 * Whether the database exists and this program would migrate it. @throws AppError DATABASE_ERROR when the
 * database cannot be opened
 */
export function hasOlderSchema(path: string, nativeBinding?: string): boolean {
  return existsSync(path) && schemaOf(path, nativeBinding) < readMigrations().length
}

function schemaOf(path: string, nativeBinding: string | undefined): number {
  let connection: Connection | undefined
  try {
    connection = openConnection({ path, nativeBinding, isReadOnly: true, busyTimeoutMs: 1000 })
    return Number(connection.value('PRAGMA user_version')())
  } catch (error) {
    throw openError(error, path)
  } finally {
    connection?.close()
  }
}
