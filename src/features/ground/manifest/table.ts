/**
 * The duties of a table: how the rows of a project are erased, what an export of a project has of them, and
 * which columns are sealed with the server's secret. A table stands in the area that writes it.
 */
import type { Config } from '../../../config/config.ts'
import {
  getTableName,
  type SQL,
  type SQLiteColumn,
  type SQLiteTable,
  sql,
} from '../../../store/drizzle.ts'
import type { StoredRow } from '../../../store/snapshot/row-reader.ts'
import { type PartSpec, partOf, type TablePart } from './part.ts'

export type TableDuties = {
  table: SQLiteTable
  /** How rows of a project are erased. Absent if no row belongs to a project. */
  erasure?: Erasure
  /** The file of the table in an export of a project; a text: the reason why there is none. */
  export?: ExportedTable | string
  sealed?: Sealed
}

/**
 * When the rows of a project are erased:
 *
 *   reset     by a reset and by a deletion of the project
 *   deletion  by a deletion; a reset keeps them
 *   first     with the queue, before all other rows (`operation/erasure/erase-rows.ts`)
 *   owner     with the rows of another table
 *   never     they outlive the project
 */
export type Erasure =
  | { when: 'reset' | 'deletion'; part: TablePart; after: readonly string[] }
  | { when: 'first' | 'owner' | 'never' }

export type ExportedTable = {
  /** `contacts` for `contacts.ndjson`. */
  name: string
  table: SQLiteTable
  condition: (projectId: string) => SQL
  /** Returns fields of the API, which replace columns of the row. */
  view?: (row: StoredRow, config: Config) => object
  /** Whether a record has only the fields of `view`, and none of the columns. */
  isWholeView?: boolean
}

export type Sealed = {
  key: SQLiteColumn
  /** The sealed columns by the names of the table's properties. */
  columns: Record<string, SQLiteColumn>
  /**
   * The rows that have a sealed text, for a table in which few rows have one; all rows if absent.
   */
  where?: SQL
}

/** `after`: the tables whose rows must be erased before the rows of this table. */
type ErasureSpec = PartSpec & { after?: readonly string[] }

type ExportSpec<R> = {
  name?: string
  condition?: (projectId: string) => SQL
  view?: (row: R, config: Config) => object
  isWholeView?: boolean
}

/** The rows of a project are erased by a reset and by a deletion. */
export function erasedByReset(table: SQLiteTable, spec: ErasureSpec = {}): Erasure {
  return { when: 'reset', part: partOf(getTableName(table), spec), after: spec.after ?? [] }
}

/** The rows of a project are erased by a deletion; a reset keeps them. */
export function erasedByDeletion(table: SQLiteTable, spec: ErasureSpec = {}): Erasure {
  return { ...erasedByReset(table, spec), when: 'deletion' } as Erasure
}

export function exported<R>(table: SQLiteTable, spec: ExportSpec<R> = {}): ExportedTable {
  const { name = getTableName(table), condition = isOfProject, view, isWholeView = false } = spec
  const file = { name, table, condition, isWholeView }
  // The row comes from this table, so it has the type `R`.
  return view === undefined ? file : { ...file, view: (row, config) => view(row as R, config) }
}

/**
 * SQL: the row belongs to a project through another table: `ownedBy('campaign_id', 'campaigns')`.
 */
export function ownedBy(column: string, owner: string, key = 'id') {
  return (projectId: string): SQL =>
    sql`${sql.raw(column)} in (select ${sql.raw(key)} from ${sql.raw(owner)} where ${isOfProject(projectId)})`
}

function isOfProject(projectId: string): SQL {
  return sql`project_id = ${projectId}`
}
