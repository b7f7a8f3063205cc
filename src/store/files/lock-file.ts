/**
 * Where the lock of a database's server lies (`serve-lock.ts`): beside the file itself, by one name,
 * whatever links lead to the database. The database need not be there.
 */
import { realpathSync, statSync } from 'node:fs'
import path from 'node:path'

/** Of the database, and of its lock. @throws Error when the folder is not there */
export function lockFileOf(databaseFile: string): { database: string; file: string } {
  const database = resolveFile(databaseFile)
  return { database, file: `${database}.serving` }
}

function resolveFile(file: string): string {
  const isThere = statSync(file, { throwIfNoEntry: false }) !== undefined
  if (isThere) return realpathSync(file)
  return path.join(realpathSync(path.dirname(file)), path.basename(file))
}
