/**
 * Which version of the program first worked with each schema of the database, so that an older program
 * can name the version that fits. The table belongs to the migrations' machinery and not to a numbered
 * migration: it must exist in every database, whatever its schema.
 */
import type { Connection } from './connection.ts'

const TABLE = 'program_versions'

/** The oldest version known to work with the schema; undefined if no version was recorded. */
export function findProgramVersion(connection: Connection, schema: number): string | undefined {
  if (!hasTable(connection)) return undefined
  const row = connection.run(`SELECT version FROM ${TABLE} WHERE schema = ?`, [schema], 'row')
  const version = Array.isArray(row) ? row[0] : undefined
  return typeof version === 'string' ? version : undefined
}

/** Runs within the transaction of the caller. */
export function recordProgramVersion(
  connection: Connection,
  { schema, version }: { schema: number; version: string },
): void {
  connection.script(
    `CREATE TABLE IF NOT EXISTS ${TABLE} (schema INTEGER PRIMARY KEY, version TEXT NOT NULL) STRICT`,
  )
  const text = `INSERT INTO ${TABLE} (schema, version) VALUES (?, ?) ON CONFLICT (schema) DO UPDATE SET version = excluded.version`
  connection.run(text, [schema, version], 'run')
}

/** Compares `major.minor.patch`; what follows a hyphen is left out. */
export function isOlderVersion(version: string, than: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(than)]
  const at = left.findIndex((number, index) => number !== right[index])
  return at !== -1 && (left[at] ?? 0) < (right[at] ?? 0)
}

function numbersOf(version: string): number[] {
  const [main = ''] = version.split('-')
  return main.split('.').map(Number)
}

function hasTable(connection: Connection): boolean {
  const text = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?"
  const row = connection.run(text, [TABLE], 'row')
  return Array.isArray(row) && row[0] === 1
}
