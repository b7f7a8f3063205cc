/** Looks at the schema of a database without opening the store, which would migrate it. */
import { existsSync } from 'node:fs'
import { type Connection, openConnection } from '../connection.ts'
import { openError } from '../database-error.ts'
import { readMigrations } from '../migrate.ts'

/**
 * Whether the database is there and has all migrations of this program, and no more.
 * @throws AppError DATABASE_ERROR when it cannot be opened
 */
export function hasCurrentSchema(path: string, nativeBinding?: string): boolean {
  return existsSync(path) && schemaOf(path, nativeBinding) === readMigrations().length
}

/**
 * Whether the database is there, and this program would migrate it.
 * @throws AppError DATABASE_ERROR when it cannot be opened
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
