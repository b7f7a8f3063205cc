/**
 * Inspects the database of a backup: its integrity, its content, and whether the secret opens its
 * sealed texts.
 */
import { AppError, describeError } from '../../../../base/errors.ts'
import type { Keyring } from '../../../../config/keyring.ts'
import { count, getTableName } from '../../../../store/drizzle.ts'
import { readMigrations } from '../../../../store/migrate.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import { events } from '../../../../store/schema/events.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { type DatabaseCopy, openDatabaseCopy } from '../../../../store/snapshot/unmigrated.ts'
import type { TableDuties } from '../../../ground/manifest/table.ts'
import { listSealed } from '../../seals/seals.ts'
import { archiveFault, type BackupManifest } from '../archive/manifest.ts'

export type CopyFacts = { projects: number; emails: number; events: number; schema: number }

const COUNTED = [projects, emails, events]

/** `tables`: the tables of all areas. */
type CopyPlace = {
  file: string
  nativeBinding: string | undefined
  tables: readonly TableDuties[]
}

/**
 * `keyring`: made of the secrets in the backup; null for a backup without its secret.
 * @throws AppError BAD_REQUEST that names the fault
 */
export async function inspectCopy(
  { file, nativeBinding, tables }: CopyPlace,
  manifest: BackupManifest,
  keyring: Keyring | null,
): Promise<CopyFacts> {
  const copy = openCopy(file, nativeBinding)
  try {
    const faults = copy.check()
    if (faults.length > 0) throw damaged(faults.slice(0, 3).join('; '))
    if (copy.schema !== manifest.schema) {
      throw archiveFault(
        `The database has schema ${copy.schema}; the manifest says ${manifest.schema}.`,
      )
    }
    refuseOtherTables(copy, tables)
    if (keyring !== null) await checkSealed(copy, tables, keyring)
    const { read, schema } = copy
    return {
      projects: await countRows(read, projects),
      emails: await countRows(read, emails),
      events: await countRows(read, events),
      schema,
    }
  } catch (error) {
    if (error instanceof AppError && error.code === 'DATABASE_ERROR')
      throw damaged(describeError(error.cause))
    throw error
  } finally {
    copy.close()
  }
}

/** The number of the last migration that this program knows. */
export function knownSchema(): number {
  return readMigrations().length
}

function openCopy(file: string, nativeBinding: string | undefined): DatabaseCopy {
  try {
    return openDatabaseCopy(file, nativeBinding)
  } catch (error) {
    throw damaged(describeError(error instanceof AppError ? error.cause : error))
  }
}

/** Refuses a name that belongs to nothing, or to a view, whose rows may have no end. */
function refuseOtherTables(copy: DatabaseCopy, tables: readonly TableDuties[]): void {
  const names = copy.listTables()
  const sealed = copy.schema < knownSchema() ? [] : listSealed(tables).map(({ table }) => table)
  for (const table of [...COUNTED, ...sealed]) {
    const name = getTableName(table)
    if (!names.includes(name)) throw damaged(`it has no table ${name}`)
  }
}

async function countRows(
  read: DatabaseCopy['read'],
  table: typeof projects | typeof emails | typeof events,
): Promise<number> {
  const [row] = await read.select({ rows: count() }).from(table).all()
  return row?.rows ?? 0
}

/**
 * Opens every sealed text. A database with an older schema may lack a table or a column, which is
 * skipped.
 */
async function checkSealed(
  { read, schema }: DatabaseCopy,
  tables: readonly TableDuties[],
  keyring: Keyring,
): Promise<void> {
  for (const { table, columns, where } of listSealed(tables)) {
    const rows = await read
      .select(columns)
      .from(table)
      .where(where)
      .all()
      .catch((error: unknown) => {
        const isOlder =
          schema < knownSchema() && /no such (table|column)/.test(describeError(error))
        if (isOlder) return []
        throw error
      })
    for (const row of rows) for (const text of Object.values(row)) tryOpen(text, keyring)
  }
}

function tryOpen(text: unknown, keyring: Keyring): void {
  if (typeof text !== 'string') return
  try {
    keyring.unseal(text)
  } catch (error) {
    throw archiveFault('The secret in the backup does not open the keys in its database.', error)
  }
}

function damaged(reason: string): AppError {
  return archiveFault(`The database in the backup is damaged: ${reason}.`)
}
