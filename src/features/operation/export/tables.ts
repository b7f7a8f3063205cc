/**
 * The content of an export of a project: a file for each of the tables that an area exports. A record has its
 * row's columns, or the API's fields if the API exposes it.
 */
import { getTableName } from '../../../store/drizzle.ts'
import type { ExportedTable, TableDuties } from '../../ground/manifest/table.ts'

/** Secrets, digests of secrets, and numbers that mean nothing outside the database. */
export const HIDDEN_FIELDS: readonly string[] = [
  'digest',
  'ed25519PrivateKey',
  'passwordHash',
  'previousSecret',
  'raw',
  'rsaPrivateKey',
  'secret',
  'secretDigest',
  'sealedVariables',
  'secretHint',
  'shareKey',
  'shelf',
  'totpSecret',
  'totpStep',
]

export function listExported(tables: readonly TableDuties[]): ExportedTable[] {
  return tables.flatMap(({ export: exported }) => (typeof exported === 'object' ? [exported] : []))
}

/** @throws TypeError for a file that no table has */
export function findExported(tables: readonly TableDuties[], name: string): ExportedTable {
  const found = listExported(tables).find((exported) => exported.name === name)
  if (found === undefined) throw new TypeError(`${name} is not exported`)
  return found
}

/** Tables with rows of projects that are not exported, with the reason. */
export function listLeftOut(tables: readonly TableDuties[]): Record<string, string> {
  const entries = tables.flatMap(({ table, export: reason }) =>
    typeof reason === 'string' ? [[getTableName(table), reason] as const] : [],
  )
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)))
}
