/**
 * Forward-only migrations: `NNNN_name.sql`, numbered from 1 without gaps, each applied in one
 * transaction that also sets `user_version`. When several processes open one file, the second to
 * get the lock finds the migration applied. A database of a newer version of the program is
 * refused.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { listAssets, readAsset } from '../config/assets.ts'
import { AppError } from '../errors.ts'
import type { Connection } from './connection.ts'

export type Migration = { number: number; name: string; sql: string }

const ASSET_FOLDER = 'migrations/sqlite'

/** Returns the program's migrations, or those of a folder, in order. */
export function readMigrations(folder?: string): Migration[] {
  const files =
    folder === undefined
      ? listAssets(ASSET_FOLDER).map((name) => ({ name, bytes: readAsset(name) }))
      : readdirSync(folder).map((name) => ({ name, bytes: readFileSync(path.join(folder, name)) }))
  const migrations = files.map(({ name, bytes }) => parseMigration(name, bytes.toString('utf8')))
  migrations.sort((a, b) => a.number - b.number)
  for (const [index, { number, name }] of migrations.entries()) {
    if (number !== index + 1)
      throw new TypeError(`Migration ${index + 1} is missing; the next file is ${name}.`)
  }
  return migrations
}

/** @throws AppError DATABASE_ERROR when the database is newer than the program; errors of SQLite */
export function migrate(connection: Connection, migrations: Migration[]): void {
  const version = connection.value('PRAGMA user_version')
  refuseNewer(Number(version()), migrations.length)
  if (version() === migrations.length) return
  // Migrations rebuild tables under their own names; foreign keys would cascade the deletes.
  connection.script('PRAGMA foreign_keys = OFF')
  try {
    for (const migration of migrations) applyOnce(connection, migration)
  } finally {
    connection.script('PRAGMA foreign_keys = ON')
  }
  refuseNewer(Number(version()), migrations.length)
}

function applyOnce(connection: Connection, { number, name, sql }: Migration): void {
  const version = connection.value('PRAGMA user_version')
  connection.script('BEGIN IMMEDIATE')
  try {
    if (Number(version()) < number) {
      connection.script(sql)
      const broken = connection.run('PRAGMA foreign_key_check', [], 'records') as unknown[]
      if (broken.length > 0) throw new TypeError(`${name} leaves rows that refer to missing rows.`)
      connection.script(`PRAGMA user_version = ${number}`)
    }
    connection.script('COMMIT')
  } catch (error) {
    if (connection.isInTransaction()) connection.script('ROLLBACK')
    throw error
  }
}

function refuseNewer(version: number, known: number): void {
  if (version <= known) return
  const text =
    `The database belongs to a newer version of this program (schema ${version}; this one supports ` +
    `${known}). Start the newer version, or restore a backup made before the upgrade.`
  throw new AppError('DATABASE_ERROR', text, { suggestion: 'Start the newer version.' })
}

function parseMigration(file: string, sql: string): Migration {
  const name = path.posix.basename(file)
  const number = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]
  if (number === undefined) throw new TypeError(`Not a migration's name: ${name}.`)
  return { number: Number(number), name, sql }
}
