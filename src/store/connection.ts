/**
 * A connection to the database file. No other code may open that file: when a process closes a
 * file, it loses all its POSIX locks on that file, those of its other connections included.
 *
 * Numbers reach SQLite as REAL; columns of STRICT tables turn them back into integers. In
 * expressions that make text, such as `||` and JSON functions, write `cast(? as integer)`.
 */
import Database from 'better-sqlite3'
import { queryError } from './database-error.ts'

/**
 * The form of a query's result: `run` is the number of changed rows (`{ changes }`), `rows` and
 * `row` are arrays of values in column order, `records` and `record` objects by column name.
 */
export type ResultShape = 'run' | 'rows' | 'row' | 'records' | 'record'

export type Connection = {
  /** The database file. */
  path: string
  /** Runs one statement, prepared once. @throws AppError DATABASE_ERROR, or SQLite's error. */
  run(text: string, params: readonly unknown[], shape: ResultShape): unknown
  /** The rows of a query, one after another, as arrays of values. */
  each(text: string, params: readonly unknown[]): Iterable<unknown[]>
  /** The number of statements so far that may have changed the database. */
  writes(): number
  /**
   * The number of rows that statements have changed so far. Rows of jobs do not count, because they change
   * each minute.
   */
  changes(): number
  /** A statement without parameters that returns no rows, such as BEGIN. @throws SQLite's error. */
  command(text: string): () => void
  /** The single value of a pragma or of a query without parameters. */
  value(text: string): () => unknown
  /** Several statements without parameters. @throws SQLite's error. */
  script(text: string): void
  isInTransaction(): boolean
  close(): void
}

/** The SQL function `address_digest` (`dialect.ts`): the digest of an address of a project. */
export type AddressDigest = (projectId: string, address: string) => Buffer

type ConnectionOptions = {
  path: string
  nativeBinding?: string | undefined
  isReadOnly?: boolean
  addressDigest?: AddressDigest | undefined
  /** How long a query may block its thread while others hold the lock. */
  busyTimeoutMs: number
}

const MAX_STATEMENTS = 500
const OF_JOBS = /^\s*(?:insert into|update|delete from) "?(?:jobs|job_progress)\b/

/** @throws SQLite's error, such as SQLITE_BUSY */
export function openConnection(options: ConnectionOptions): Connection {
  const { path, nativeBinding, isReadOnly = false, busyTimeoutMs, addressDigest } = options
  const database = new Database(path, {
    readonly: isReadOnly,
    timeout: busyTimeoutMs,
    ...(nativeBinding === undefined ? {} : { nativeBinding }),
  })
  if (addressDigest !== undefined) {
    database.function('address_digest', { deterministic: true }, (projectId, address) =>
      addressDigest(String(projectId), String(address)),
    )
  }
  const statements = new Map<string, Prepared>()
  let writes = 0
  let changes = 0

  function prepared(text: string): Prepared {
    const known = statements.get(text)
    if (known) return known
    const statement = database.prepare(text)
    const made = {
      statement,
      isReader: statement.reader,
      isWrite: !statement.readonly,
      isOfJobs: OF_JOBS.test(text),
      isRaw: false,
      changes: 0,
    }
    if (statements.size >= MAX_STATEMENTS) {
      const [oldest] = statements.keys()
      statements.delete(oldest ?? '')
    }
    statements.set(text, made)
    return made
  }

  return {
    path,
    run(text, params, shape) {
      try {
        const found = prepared(text)
        if (found.isWrite) writes += 1
        const result = fetch(found, bindable(params), shape)
        if (found.isWrite && !found.isOfJobs) changes += found.changes
        return result
      } catch (error) {
        throw queryError(error, path)
      }
    },
    each: (text, params) =>
      database.prepare(text).raw(true).iterate(bindable(params)) as Iterable<unknown[]>,
    writes: () => writes,
    changes: () => changes,
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

/** A statement, with properties that are read from the addon once instead of at every run. */
type Prepared = {
  statement: Database.Statement
  isReader: boolean
  isWrite: boolean
  isOfJobs: boolean
  isRaw: boolean
  /** The rows that the last run changed or returned. */
  changes: number
}

function fetch(prepared: Prepared, params: readonly unknown[], shape: ResultShape): unknown {
  if (!prepared.isReader) {
    const done = prepared.statement.run(params)
    prepared.changes = done.changes
    return shape === 'run' ? done : []
  }
  const isOne = shape === 'row' || shape === 'record'
  const statement = setRowShape(prepared, shape === 'records' || shape === 'record')
  const rows = isOne ? statement.get(params) : statement.all(params)
  prepared.changes = Array.isArray(rows) && !isOne ? rows.length : Number(rows !== undefined)
  return shape === 'run' ? { changes: 0 } : rows
}

function setRowShape(prepared: Prepared, isByName: boolean): Database.Statement {
  if (prepared.isRaw === isByName) {
    prepared.statement.raw(!isByName)
    prepared.isRaw = !isByName
  }
  return prepared.statement
}

/** Replaces booleans by integers, because SQLite has no boolean type. */
function bindable(params: readonly unknown[]): readonly unknown[] {
  for (const value of params) {
    if (typeof value === 'boolean') {
      return params.map((each) => (typeof each === 'boolean' ? Number(each) : each))
    }
  }
  return params
}
