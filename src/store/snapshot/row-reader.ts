/**
 * Reads tables row by row in one read transaction, beside a running server. For a process that ends soon:
 * reading blocks its thread, and the log of the server grows until the reader is closed.
 */
import { type Connection, openConnection } from '../connection.ts'
import { compileSql } from '../database.ts'
import { openError } from '../database-error.ts'
import { getTableColumns, type SQL, type SQLiteTable, sql } from '../drizzle.ts'

export type StoredRow = Record<string, unknown>

export type RowReader = {
  /** The rows of a table that a condition selects, by the names of the table's properties. */
  rows(table: SQLiteTable, condition: SQL): Iterable<StoredRow>
  close(): void
}

type Decoder = { mapFromDriverValue(value: unknown): unknown }

/** @throws AppError DATABASE_ERROR */
export function openRowReader(path: string, nativeBinding?: string): RowReader {
  let connection: Connection | undefined
  try {
    connection = openConnection({ path, nativeBinding, isReadOnly: true, busyTimeoutMs: 5000 })
    connection.script('PRAGMA cache_size = -8192; BEGIN')
    connection.value('SELECT count(*) FROM sqlite_schema')()
  } catch (error) {
    connection?.close()
    throw openError(error, path)
  }
  const opened = connection
  return {
    rows: (table, condition) => rowsOf(opened, table, condition),
    close: () => opened.close(),
  }
}

function* rowsOf(connection: Connection, table: SQLiteTable, condition: SQL): Generator<StoredRow> {
  const columns = Object.entries(getTableColumns(table))
  const names = sql.join(
    columns.map(([, column]) => sql`${column}`),
    sql`, `,
  )
  const { sql: text, params } = compileSql(sql`select ${names} from ${table} where ${condition}`)
  for (const values of connection.each(text, params)) {
    const entries = columns.map(([name, column], index) => {
      const value = values[index]
      return [name, decode(column, value)]
    })
    yield Object.fromEntries(entries)
  }
}

/** A value that its column cannot decode, such as a text that is no JSON, stays as it is stored. */
function decode(column: Decoder, value: unknown): unknown {
  if (value === null) return null
  try {
    return column.mapFromDriverValue(value)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return value
    throw error
  }
}
