/**
 * Statements that are compiled once per process: drizzle takes about 50 us to build a query, longer
 * than SQLite takes to run it. Columns are decoded and encoded as in any drizzle query.
 *
 *   const findContact = statement((db) =>
 *     db.select().from(contacts).where(eq(contacts.address, parameter('address'))))
 *   const contact = await tx.find(findContact, { address })
 */
import {
  type CompiledStatement,
  compileSql,
  type Db,
  type ParameterValues,
  type Statement,
  StoreDb,
  StoreQuery,
} from './database.ts'
import { Column, is, Param, Placeholder, type SQL, sql } from './drizzle.ts'
import { insertOfRows } from './insert-of-rows.ts'

type Preparable = { prepare(): { all(values?: ParameterValues): Promise<unknown> } }
type QueryRow<Builder> = Builder extends {
  prepare(): { all(values?: ParameterValues): Promise<(infer R)[]> }
}
  ? R
  : never
type Decoder = { mapFromDriverValue(value: unknown): unknown }

/**
 * Makes a statement from a builder, or from raw SQL, whose rows are objects by column name. Safe as a
 * module constant: the statement is built at its first use.
 */
export function statement<Builder extends Preparable>(
  build: (db: Db) => Builder,
): Statement<QueryRow<Builder>>
export function statement<Row>(build: (db: Db) => Preparable | SQL): Statement<Row>
export function statement<Row>(build: (db: Db) => Preparable | SQL): Statement<Row> {
  let compiled: CompiledStatement<Row> | undefined
  return {
    compiled() {
      compiled ??= compile<Row>(build(new StoreDb(neverRun)))
      return compiled
    },
  }
}

/** A value given at each run. Typed as SQL too, because drizzle's types accept placeholders in few places. */
export function parameter(name: string): InstanceType<typeof Placeholder> & SQL {
  return sql.placeholder(name) as InstanceType<typeof Placeholder> & SQL
}

function compile<Row>(built: Preparable | SQL): CompiledStatement<Row> {
  if (!('prepare' in built)) {
    const { sql: text, params } = compileSql(built)
    return { text, textOfRows: insertOfRows(text), ...binders(params), decode: undefined }
  }
  const query = built.prepare()
  if (!(query instanceof StoreQuery)) throw new TypeError('Build the statement from the given db.')
  const { sql: text, params } = query.getQuery()
  return {
    text,
    textOfRows: insertOfRows(text),
    ...binders(params),
    decode: decoder<Row>(query),
  }
}

/** Returns the functions that replace the placeholders by values, as the columns encode them. */
function binders(params: unknown[]): Pick<CompiledStatement<unknown>, 'bind' | 'bindRows'> {
  const slots = params.map(slot)
  const { length } = slots
  const fill = (bound: unknown[], from: number, values: ParameterValues) => {
    for (let index = 0; index < length; index += 1) {
      const { name, constant, encoder } = slots[index] as ParameterSlot
      const value = name === undefined ? constant : values[name]
      if (value === undefined) throw new TypeError(`The statement needs a value for "${name}".`)
      bound[from + index] = value === null || !encoder ? value : encoder.mapToDriverValue(value)
    }
  }
  return {
    bind(values = {}) {
      const bound = new Array<unknown>(length)
      fill(bound, 0, values)
      return bound
    },
    bindRows(rows) {
      const bound = new Array<unknown>(length * rows.length)
      for (const [row, values] of rows.entries()) fill(bound, row * length, values)
      return bound
    },
  }
}

type Encoder = { mapToDriverValue(value: unknown): unknown }
type ParameterSlot = { name?: string; constant?: unknown; encoder?: Encoder | undefined }

function slot(param: unknown): ParameterSlot {
  if (is(param, Placeholder)) return { name: param.name }
  if (!is(param, Param) || !is(param.value, Placeholder)) return { constant: param }
  const { encoder } = param
  const isPlain = encoder.mapToDriverValue === Column.prototype.mapToDriverValue
  return { name: param.value.name, encoder: isPlain ? undefined : (encoder as Encoder) }
}

/** Decodes rows of columns and expressions, ten times as fast as drizzle's mapping. */
function decoder<Row>(query: StoreQuery): (row: unknown[]) => Row {
  const { fields, mapper } = query.selection
  const columns = mapper ? undefined : fields?.map(({ path, field }) => toColumn(path, field))
  if (!columns?.every((column) => column !== undefined)) return (row) => query.mapRow(row) as Row
  // A copy has room for all columns at once; an object that grows is allocated again and again.
  const blank: ParameterValues = Object.fromEntries(columns.map(({ key }) => [key, null]))
  return (row) => {
    const result = { ...blank }
    let index = 0
    for (const { key, decode } of columns) {
      const value = row[index++]
      result[key] = value === null || !decode ? value : decode.mapFromDriverValue(value)
    }
    return result as Row
  }
}

type FlatColumn = { key: string; decode: Decoder | undefined }

/**
 * Returns how a field is decoded; undefined for fields that only drizzle can map: nested objects,
 * sub-selects.
 */
function toColumn([key, ...deeper]: string[], field: object): FlatColumn | undefined {
  if (key === undefined || deeper.length > 0) return undefined
  if (is(field, Column)) {
    const isPlain = field.mapFromDriverValue === Column.prototype.mapFromDriverValue
    return { key, decode: isPlain ? undefined : field }
  }
  return 'decoder' in field ? { key, decode: field.decoder as Decoder } : undefined
}

function neverRun(): never {
  throw new TypeError('A statement is run by tx, store.read or store.scan, not while it is built.')
}
