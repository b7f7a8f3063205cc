/** SQLite's own check of a database file. */
import type { Connection } from '../connection.ts'

/** The tables of a database, SQLite's own included. */
export function listStoredTables(connection: Connection): string[] {
  const text = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
  return (connection.run(text, [], 'rows') as string[][]).flat()
}

/**
 * Checks the whole file, or one table with its indexes and not the list of free pages. Returns the
 * faults. @throws AppError DATABASE_ERROR when the file is too broken to be read
 */
export function quickCheck(connection: Connection, table?: string): string[] {
  const part = table === undefined ? '10' : `"${table.replaceAll('"', '""')}"`
  const rows = (connection.run(`PRAGMA quick_check(${part})`, [], 'rows') as string[][]).flat()
  return rows.length === 1 && rows[0] === 'ok' ? [] : rows
}
