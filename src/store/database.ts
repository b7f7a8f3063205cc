/**
 * drizzle's proxy driver: a session passes every query to one function, which the writer, the read
 * connection and the scan threads each supply. Errors pass unchanged, because drizzle's own wrapper
 * would write the parameters, which may be personal data, to the logs. Raw SQL (`all`, `get`)
 * returns objects by column name; `values` returns arrays.
 */
import type { ResultShape } from './connection.ts'
import {
  fillPlaceholders,
  type Query,
  RemoteDatabase,
  RemotePreparedQuery,
  type SelectedFieldsOrdered,
  type SQL,
  SQLiteAsyncDialect,
  SQLiteRemoteSession,
  type SqliteRemoteDatabase,
  type SqliteRemoteResult,
} from './drizzle.ts'
import { rowsPerInsert } from './insert-of-rows.ts'

export type Db = SqliteRemoteDatabase<Record<string, never>>

/** Runs one statement and returns its rows in the given shape, or a promise of them. */
export type RunSql = (text: string, params: unknown[], shape: ResultShape) => unknown

export type ParameterValues = Record<string, unknown>

/** A statement that has been built. `decode` is absent if rows are objects by column name. */
export type CompiledStatement<Row> = {
  text: string
  bind(values: ParameterValues | undefined): unknown[]
  /** Returns the text of an insert for `count` rows. The parameters of the rows follow one another. */
  textOfRows(count: number): string
  bindRows(rows: readonly ParameterValues[]): unknown[]
  decode: ((row: unknown[]) => Row) | undefined
}

/** A prepared statement (`statement.ts`). */
export type Statement<Row> = { compiled(): CompiledStatement<Row> }

/** The type of a statement's rows. */
export type RowOf<Made> = Made extends Statement<infer Row> ? Row : never

/** Runs prepared statements. */
export type Statements = {
  /** Writes; resolves to the number of rows changed. */
  execute(statement: Statement<unknown>, values?: ParameterValues): Promise<number>
  /** Runs the statement with each set of values; resolves to the number of rows that each run changed. */
  executeEach(statement: Statement<unknown>, values: readonly ParameterValues[]): Promise<number[]>
  /** Inserts rows in their order, many by one statement. `insert` has `values` and one row (`insert-of-rows.ts`). */
  insertRows(insert: Statement<unknown>, rows: readonly ParameterValues[]): Promise<void>
  /** The first row, or undefined. */
  find<Row>(statement: Statement<Row>, values?: ParameterValues): Promise<Row | undefined>
  list<Row>(statement: Statement<Row>, values?: ParameterValues): Promise<Row[]>
}

type Mapper = (rows: unknown[][]) => unknown
type Selection = { fields: SelectedFieldsOrdered | undefined; mapper: Mapper | undefined }
type Method = 'run' | 'all' | 'get'
type NoSchema = Record<string, never>

const dialect = new SQLiteAsyncDialect()
const SILENT = { logQuery: () => undefined }

/** A compiled query of one of drizzle's query builders. */
export class StoreQuery extends RemotePreparedQuery {
  readonly selection: Selection
  readonly #runSql: RunSql
  readonly #isBare: boolean

  constructor(runSql: RunSql, query: Query, selection: Selection, method: Method) {
    const { fields, mapper } = selection
    const noCache = undefined as never
    super(unused, query, SILENT, noCache, undefined, undefined, fields, method, true, mapper)
    this.#runSql = runSql
    this.selection = selection
    this.#isBare = fields === undefined && mapper === undefined
  }

  override async run(values?: ParameterValues): Promise<SqliteRemoteResult> {
    return this.#fetch('run', values) as SqliteRemoteResult
  }

  override async all(values?: ParameterValues): Promise<unknown> {
    if (this.#isBare) return this.#fetch('records', values)
    return this.mapAllResult(await this.#fetch('rows', values))
  }

  override async get(values?: ParameterValues): Promise<unknown> {
    if (this.#isBare) return this.#fetch('record', values)
    return this.mapRow((await this.#fetch('row', values)) as unknown[] | undefined)
  }

  override async values<T>(values?: ParameterValues): Promise<T[]> {
    return this.#fetch('rows', values) as T[]
  }

  /** Decodes one row by drizzle's decoders of columns; undefined stays undefined. */
  mapRow(row: unknown[] | undefined): unknown {
    return row && (super.mapAllResult([row]) as unknown[])[0]
  }

  #fetch(shape: ResultShape, values: ParameterValues | undefined): unknown {
    const { sql, params } = this.query
    return this.#runSql(sql, values ? fillPlaceholders(params, values) : params, shape)
  }
}

class StoreSession extends SQLiteRemoteSession<NoSchema, NoSchema> {
  readonly #runSql: RunSql

  constructor(runSql: RunSql) {
    super(unused, dialect, undefined, undefined, { logger: SILENT })
    this.#runSql = runSql
  }

  override prepareQuery(
    query: Query,
    fields: SelectedFieldsOrdered | undefined,
    method: Method,
    _isArrayMode: boolean,
    mapper?: Mapper,
  ): never {
    // The declared type has generics that no value of this class has.
    return new StoreQuery(this.#runSql, query, { fields, mapper }, method) as never
  }
}

/** drizzle's query builders over `runSql`, and prepared statements beside them. */
export class StoreDb extends RemoteDatabase<NoSchema> implements Statements {
  readonly #runSql: RunSql

  constructor(runSql: RunSql) {
    super('async', dialect, new StoreSession(runSql) as never, undefined)
    this.#runSql = runSql
  }

  async execute(statement: Statement<unknown>, values?: ParameterValues): Promise<number> {
    const { text, bind } = statement.compiled()
    return rowsChanged(await this.#runSql(text, bind(values), 'run'))
  }

  async executeEach(
    statement: Statement<unknown>,
    values: readonly ParameterValues[],
  ): Promise<number[]> {
    const { text, bind } = statement.compiled()
    const changed: number[] = []
    for (const each of values) {
      const result = this.#runSql(text, bind(each), 'run')
      changed.push(rowsChanged(result instanceof Promise ? await result : result))
    }
    return changed
  }

  async insertRows(insert: Statement<unknown>, rows: readonly ParameterValues[]): Promise<void> {
    const { textOfRows, bindRows } = insert.compiled()
    for (let from = 0; from < rows.length; ) {
      const count = rowsPerInsert(rows.length - from)
      const some = rows.slice(from, from + count)
      await this.#runSql(textOfRows(count), bindRows(some), 'run')
      from += count
    }
  }

  async find<Row>(statement: Statement<Row>, values?: ParameterValues): Promise<Row | undefined> {
    const { text, bind, decode } = statement.compiled()
    if (!decode) return (await this.#runSql(text, bind(values), 'record')) as Row | undefined
    const row = await this.#runSql(text, bind(values), 'row')
    return row === undefined ? undefined : decode(row as unknown[])
  }

  async list<Row>(statement: Statement<Row>, values?: ParameterValues): Promise<Row[]> {
    const { text, bind, decode } = statement.compiled()
    if (!decode) return (await this.#runSql(text, bind(values), 'records')) as Row[]
    const rows = await this.#runSql(text, bind(values), 'rows')
    return (rows as unknown[][]).map(decode)
  }

  /** Refuses drizzle's transactions: only `store.write` makes transactions. */
  override transaction(): never {
    throw new TypeError('Transactions are made by store.write only.')
  }

  /** Refuses drizzle's batches: only `store.write` groups statements. */
  override batch(): never {
    throw new TypeError('Batches are made by store.write only.')
  }
}

/** The text and parameters of a raw query. */
export function compileSql(query: SQL): Query {
  return dialect.sqlToQuery(query)
}

/** Returns the number of rows that a query without RETURNING changed: `await tx.update(...)`. */
export function rowsChanged(result: unknown): number {
  const hasChanges = typeof result === 'object' && result !== null && 'changes' in result
  return hasChanges ? Number(result.changes) : 0
}

function unused(): never {
  throw new TypeError('Queries run through the store.')
}
