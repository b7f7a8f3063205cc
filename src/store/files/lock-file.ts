/**
 * The path of the server's lock (`serve-lock.ts`): beside the database file itself, so that all
 * symbolic links to the database share one lock. The database need not exist.
 */
import { realpathSync, statSync } from 'node:fs'
import path from 'node:path'

/** The real paths of the database and of its lock. @throws Error when the folder does not exist */
export function lockFileOf(databaseFile: string): { database: string; file: string } {
  const database = resolveFile(databaseFile)
  return { database, file: `${database}.serving` }
}

function resolveFile(file: string): string {
  const isThere = statSync(file, { throwIfNoEntry: false }) !== undefined
  if (isThere) return realpathSync(file)
  return path.join(realpathSync(path.dirname(file)), path.basename(file))
}
