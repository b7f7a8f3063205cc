/** Takes the rows out of a database, so that it is as new. */
import { statSync } from 'node:fs'
import type { Connection } from '../src/store/connection.ts'

/** The rows of a new database by table, and what takes out all others. */
export type NewRows = {
  rows: Map<string, unknown[][]>
  tables: string[]
  /** Full-text indexes. */
  searches: string[]
  pages: number
}

/** A database that has grown by more is not worth it. */
const MAX_NEW_PAGES = 200
const MAX_LOG_BYTES = 1024 * 1024
/** The tables of a full-text index. */
const PARTS = ['data', 'idx', 'content', 'docsize', 'config']
/** Triggers write while others delete. */
const MAX_PASSES = 4

export function readNewRows(connection: Connection): NewRows {
  const listed = list(connection, `SELECT name, sql FROM sqlite_master WHERE type = 'table'`)
  const all = listed.map(([name, sql]) => ({ name: String(name), sql: String(sql) }))
  const searches = all.filter(({ sql }) => sql.startsWith('CREATE VIRTUAL')).map(({ name }) => name)
  const parts = searches.flatMap((name) => [name, ...PARTS.map((part) => `${name}_${part}`)])
  const tables = all.map(({ name }) => name).filter((name) => !parts.includes(name))
  const filled = filledOf(connection, tables)
  const rows = new Map(filled.map((name) => [name, list(connection, `SELECT * FROM ${name}`)]))
  return { rows, tables, searches, pages: countPages(connection) }
}

/** Returns false when it has not emptied the database. @throws SQLite's error */
export function emptyDatabase(connection: Connection, fresh: NewRows): boolean {
  if (countPages(connection) > fresh.pages + MAX_NEW_PAGES) return false
  connection.script('PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE')
  let filled = filledOf(connection, fresh.tables)
  for (let pass = 0; filled.length > 0; pass++) {
    if (pass === MAX_PASSES) return false
    for (const name of filled) connection.run(`DELETE FROM ${name}`, [], 'run')
    filled = filledOf(connection, fresh.tables)
  }
  for (const name of filledOf(connection, fresh.searches, '_idx'))
    connection.run(`INSERT INTO ${name} (${name}) VALUES ('delete-all')`, [], 'run')
  for (const [name, rows] of fresh.rows) {
    for (const row of rows) {
      const places = row.map(() => '?').join(', ')
      connection.run(`INSERT INTO ${name} VALUES (${places})`, row, 'run')
    }
  }
  connection.script('COMMIT; PRAGMA foreign_keys = ON')
  const log = statSync(`${connection.path}-wal`).size
  if (log > MAX_LOG_BYTES) connection.run('PRAGMA wal_checkpoint(TRUNCATE)', [], 'rows')
  return true
}

function filledOf(connection: Connection, tables: string[], suffix = ''): string[] {
  const each = tables.map(
    (name) => `SELECT '${name}' WHERE EXISTS (SELECT 1 FROM ${name}${suffix})`,
  )
  return list(connection, each.join(' UNION ALL ')).map(([name]) => String(name))
}

function list(connection: Connection, text: string): unknown[][] {
  return connection.run(text, [], 'rows') as unknown[][]
}

function countPages(connection: Connection): number {
  return Number(connection.value('PRAGMA page_count')())
}
