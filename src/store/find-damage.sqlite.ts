/** Looks through the whole database for damage: broken pages and indexes, rows that refer to nothing. */
import { openConnection } from './connection.ts'

const BUSY_TIMEOUT_MS = 5_000
const MAX_LINES = 20

/** Blocks its thread: minutes for a database of many gigabytes. @throws SQLite's error */
export function findDamage(options: {
  path: string
  nativeBinding?: string | undefined
}): string[] {
  const connection = openConnection({
    ...{ ...options, isReadOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS },
  })
  try {
    const found = connection.run(`PRAGMA integrity_check(${MAX_LINES})`, [], 'rows') as [string][]
    const broken = found.map(([line]) => line).filter((line) => line !== 'ok')
    const orphans = connection.run('PRAGMA foreign_key_check', [], 'rows') as [string, number][]
    const lines = orphans.slice(0, MAX_LINES).map(([table, row]) => `row ${row} of ${table}`)
    return [...broken, ...lines.map((line) => `${line} refers to a row that does not exist`)]
  } finally {
    connection.close()
  }
}
