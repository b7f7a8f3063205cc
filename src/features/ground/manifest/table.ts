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
  /** Absent: no row belongs to a project. */
  erasure?: Erasure
  /** The file of the table in an export of a project; a text: the reason why there is none. */
  export?: ExportedTable | string
  sealed?: Sealed
}

/**
 * How the rows of a project go:
 *
 *   reset     a reset and a deletion of the project erase them
 *   deletion  a reset keeps them
 *   first     with the queue, before all others (`operation/erasure/erase-rows.ts`)
 *   owner     with the rows of another table
 *   never     they survive the project
 */
export type Erasure =
  | { when: 'reset' | 'deletion'; part: TablePart; after: readonly string[] }
  | { when: 'first' | 'owner' | 'never' }

export type ExportedTable = {
  /** `contacts` for `contacts.ndjson`. */
  name: string
  table: SQLiteTable
  condition: (projectId: string) => SQL
  /** The fields of the API, in the place of columns. */
  view?: (row: StoredRow, config: Config) => object
  /** Whether a record has these fields only. */
  isWholeView?: boolean
}

export type Sealed = {
  key: SQLiteColumn
  /** By the names of the table's properties. */
  columns: Record<string, SQLiteColumn>
  /** The rows that have a sealed text, where most have none; all rows if absent. */
  where?: SQL
}

/** `after`: tables whose rows go before those of this table. */
type ErasureSpec = PartSpec & { after?: readonly string[] }

type ExportSpec<R> = {
  name?: string
  condition?: (projectId: string) => SQL
  view?: (row: R, config: Config) => object
  isWholeView?: boolean
}

/** The rows of a project, which a reset erases too. */
export function erasedByReset(table: SQLiteTable, spec: ErasureSpec = {}): Erasure {
  return { when: 'reset', part: partOf(getTableName(table), spec), after: spec.after ?? [] }
}

/** The rows of a project that a reset keeps. */
export function erasedByDeletion(table: SQLiteTable, spec: ErasureSpec = {}): Erasure {
  return { ...erasedByReset(table, spec), when: 'deletion' } as Erasure
}

export function exported<R>(table: SQLiteTable, spec: ExportSpec<R> = {}): ExportedTable {
  const { name = getTableName(table), condition = isOfProject, view, isWholeView = false } = spec
  const file = { name, table, condition, isWholeView }
  // The rows are those of the table.
  return view === undefined ? file : { ...file, view: (row, config) => view(row as R, config) }
}

/** Rows that belong to a project by another table: `ownedBy('campaign_id', 'campaigns')`. */
export function ownedBy(column: string, owner: string, key = 'id') {
  return (projectId: string): SQL =>
    sql`${sql.raw(column)} in (select ${sql.raw(key)} from ${sql.raw(owner)} where ${isOfProject(projectId)})`
}

function isOfProject(projectId: string): SQL {
  return sql`project_id = ${projectId}`
}
