/** Looks at the schema of a database without opening the store, which would migrate it. */
import { existsSync } from 'node:fs'
import { openConnection } from '../connection.ts'
import { readMigrations } from '../migrate.ts'

/** Whether the database is there and has all migrations of this program, and no more. */
export function hasCurrentSchema(path: string, nativeBinding?: string): boolean {
  if (!existsSync(path)) return false
  const connection = openConnection({ path, nativeBinding, isReadOnly: true, busyTimeoutMs: 1000 })
  try {
    return Number(connection.value('PRAGMA user_version')()) === readMigrations().length
  } finally {
    connection.close()
  }
}
