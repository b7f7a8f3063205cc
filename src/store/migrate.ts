/**
 * Forward-only migrations: `NNNN_name.sql`, numbered from 1 without gaps, each applied in one
 * transaction that also sets `user_version`. When several processes open one file, the second to
 * get the lock finds the migration applied. A database of a newer version of the program is
 * refused, with the version that fits (`findProgramVersion`).
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../base/errors.ts'
import { listAssets, readAsset } from '../config/assets.ts'
import { productVersion } from '../config/version.ts'
import type { Connection } from './connection.ts'

export type Migration = { number: number; name: string; sql: string }

type MigrateOptions = {
  /** The version of this program, by default its own. */
  version?: string | undefined
  /** Called before each migration that is applied. */
  onBegin?: (migration: Migration) => void
}

const ASSET_FOLDER = 'migrations/sqlite'
let ownMigrations: Migration[] | undefined

type Program = { version: string; known: number }

const TABLE = 'program_versions'

/** Returns the program's migrations, read once, or those of a folder, in order. */
export function readMigrations(folder?: string): Migration[] {
  if (folder !== undefined) {
    const names = readdirSync(folder)
    return parseMigrations(
      names.map((name) => ({ name, bytes: readFileSync(path.join(folder, name)) })),
    )
  }
  ownMigrations ??= parseMigrations(
    listAssets(ASSET_FOLDER).map((name) => ({ name, bytes: readAsset(name) })),
  )
  return ownMigrations
}

function parseMigrations(files: { name: string; bytes: Buffer }[]): Migration[] {
  const migrations = files.map(({ name, bytes }) => parseMigration(name, bytes.toString('utf8')))
  migrations.sort((a, b) => a.number - b.number)
  for (const [index, { number, name }] of migrations.entries()) {
    if (number !== index + 1)
      throw new TypeError(`Migration ${index + 1} is missing; the next file is ${name}.`)
  }
  return migrations
}

/** @throws AppError DATABASE_ERROR when the database is newer than the program; errors of SQLite */
export function migrate(
  connection: Connection,
  migrations: Migration[],
  { version = productVersion(), onBegin }: MigrateOptions = {},
): void {
  const schema = connection.value('PRAGMA user_version')
  const program = { version, known: migrations.length }
  refuseNewer(connection, program)
  if (schema() === migrations.length) {
    recordIfNew(connection, program)
    return
  }
  // Migrations rebuild tables under their own names; foreign keys would cascade the deletes.
  connection.script('PRAGMA foreign_keys = OFF')
  try {
    for (const migration of migrations) {
      if (migration.number > Number(schema())) onBegin?.(migration)
      applyOnce(connection, migration, version)
    }
  } finally {
    connection.script('PRAGMA foreign_keys = ON')
  }
  refuseNewer(connection, program)
}

/** The number of the newest migration that the database has; 0 for a new file. */
export function schemaOf(connection: Connection): number {
  return Number(connection.value('PRAGMA user_version')())
}

function applyOnce(
  connection: Connection,
  { number, name, sql }: Migration,
  version: string,
): void {
  connection.script('BEGIN IMMEDIATE')
  try {
    if (schemaOf(connection) < number) {
      connection.script(sql)
      const broken = connection.run('PRAGMA foreign_key_check', [], 'records') as unknown[]
      if (broken.length > 0) throw new TypeError(`${name} leaves rows that refer to missing rows.`)
      connection.script(`PRAGMA user_version = ${number}`)
      recordProgramVersion(connection, { schema: number, version })
    }
    connection.script('COMMIT')
  } catch (error) {
    if (connection.isInTransaction()) connection.script('ROLLBACK')
    throw error
  }
}

/**
 * Records the version if it is older than the recorded one, or if none is recorded: any version that works
 * with the schema may be started again.
 */
function recordIfNew(connection: Connection, { version, known: schema }: Program): void {
  const recorded = findProgramVersion(connection, schema)
  if (recorded !== undefined && !isOlderVersion(version, recorded)) return
  connection.script('BEGIN IMMEDIATE')
  try {
    recordProgramVersion(connection, { schema, version })
    connection.script('COMMIT')
  } catch (error) {
    if (connection.isInTransaction()) connection.script('ROLLBACK')
    throw error
  }
}

function refuseNewer(connection: Connection, { version, known }: Program): void {
  const schema = schemaOf(connection)
  if (schema <= known) return
  const fitting = findProgramVersion(connection, schema)
  const isKnown = fitting !== undefined && isOlderVersion(version, fitting)
  const wanted = isKnown ? `version ${fitting} or newer` : 'the newer version'
  const text =
    `The database belongs to a newer version of this program (schema ${schema}; this one, ${version}, ` +
    `supports ${known}). Start ${wanted}, or restore a backup made before the upgrade.`
  throw new AppError('DATABASE_ERROR', text, { suggestion: `Start ${wanted}.` })
}

function parseMigration(file: string, sql: string): Migration {
  const name = path.posix.basename(file)
  const number = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]
  if (number === undefined) throw new TypeError(`Not a migration's name: ${name}.`)
  return { number: Number(number), name, sql }
}

/**
 * Returns the oldest version of the program known to work with the schema, which an older program can name;
 * undefined if no version was recorded. No numbered migration makes this table: it must exist in every
 * database, whatever its schema.
 */
export function findProgramVersion(connection: Connection, schema: number): string | undefined {
  if (!hasTable(connection)) return undefined
  const row = connection.run(`SELECT version FROM ${TABLE} WHERE schema = ?`, [schema], 'row')
  const version = Array.isArray(row) ? row[0] : undefined
  return typeof version === 'string' ? version : undefined
}

/** Runs within the transaction of the caller. */
function recordProgramVersion(
  connection: Connection,
  { schema, version }: { schema: number; version: string },
): void {
  connection.script(
    `CREATE TABLE IF NOT EXISTS ${TABLE} (schema INTEGER PRIMARY KEY, version TEXT NOT NULL) STRICT`,
  )
  const text = `INSERT INTO ${TABLE} (schema, version) VALUES (?, ?) ON CONFLICT (schema) DO UPDATE SET version = excluded.version`
  connection.run(text, [schema, version], 'run')
}

/** Compares `major.minor.patch`, without the part after a hyphen. */
function isOlderVersion(version: string, than: string): boolean {
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
