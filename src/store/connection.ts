/**
 * One connection to the database file, and the only way to it: opening that file by hand would
 * drop the POSIX locks of every connection of this process when it is closed again.
 *
 * Numbers reach SQLite as REAL (columns of STRICT tables turn them back): inside expressions that
 * make text, as `||` or JSON functions, write `cast(? as integer)`.
 */
import Database from 'better-sqlite3'
import { queryError } from './database-error.ts'

/**
 * What a query gives back: `run` the number of rows changed (`{ changes }`), `rows` and `row`
 * arrays of values in column order, `records` and `record` objects by column name.
 */
export type Shape = 'run' | 'rows' | 'row' | 'records' | 'record'

export type Connection = {
  /** Runs one statement, prepared once. @throws AppError DATABASE_ERROR, or what SQLite says. */
  run(text: string, params: readonly unknown[], shape: Shape): unknown
  /** How often `run` has begun a statement that may change the database. */
  writes(): number
  /** A statement without parameters that gives no rows, as BEGIN. @throws what SQLite says. */
  command(text: string): () => void
  /** The single value of a pragma or of a query without parameters. */
  value(text: string): () => unknown
  /** Several statements without parameters. @throws what SQLite says. */
  script(text: string): void
  isInTransaction(): boolean
  close(): void
}

export type ConnectionOptions = {
  path: string
  nativeBinding?: string | undefined
  isReadOnly?: boolean
  /** How long a query may block its thread while others hold the lock. */
  busyTimeoutMs: number
}

const maxStatements = 500

/** @throws what SQLite says, SQLITE_BUSY included. */
export function openConnection(options: ConnectionOptions): Connection {
  const { path, nativeBinding, isReadOnly = false, busyTimeoutMs } = options
  const database = new Database(path, {
    readonly: isReadOnly,
    timeout: busyTimeoutMs,
    ...(nativeBinding === undefined ? {} : { nativeBinding }),
  })
  const statements = new Map<string, Database.Statement>()
  let writes = 0

  function prepared(text: string): Database.Statement {
    const known = statements.get(text)
    if (known) return known
    const statement = database.prepare(text)
    if (statements.size >= maxStatements) {
      const [oldest] = statements.keys()
      statements.delete(oldest ?? '')
    }
    statements.set(text, statement)
    return statement
  }

  return {
    run(text, params, shape) {
      try {
        const statement = prepared(text)
        if (!statement.readonly) writes += 1
        return fetch(statement, bindable(params), shape)
      } catch (error) {
        throw queryError(error)
      }
    },
    writes: () => writes,
    command(text) {
      const statement = database.prepare(text)
      return () => {
        statement.run()
      }
    },
    value(text) {
      const statement = database.prepare(text).pluck()
      return () => statement.get()
    },
    script: (text) => {
      database.exec(text)
    },
    isInTransaction: () => database.inTransaction,
    close: () => {
      database.close()
    },
  }
}

function fetch(statement: Database.Statement, params: readonly unknown[], shape: Shape): unknown {
  if (!statement.reader) {
    const { changes } = statement.run(params)
    return shape === 'run' ? { changes } : []
  }
  switch (shape) {
    case 'run':
      statement.raw(true).all(params)
      return { changes: 0 }
    case 'rows':
      return statement.raw(true).all(params)
    case 'row':
      return statement.raw(true).get(params)
    case 'records':
      return statement.raw(false).all(params)
    case 'record':
      return statement.raw(false).get(params)
  }
}

/** Booleans are integers in every engine; SQLite has no type of its own for them. */
function bindable(params: readonly unknown[]): readonly unknown[] {
  if (!params.some(isBoolean)) return params
  return params.map((value) => (isBoolean(value) ? Number(value) : value))
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}
