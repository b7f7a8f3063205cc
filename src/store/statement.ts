/**
 * Hot statements, compiled once a process: drizzle needs some 50 us to build a query, more than
 * SQLite needs to run it. Column decoders and encoders apply as in any drizzle query.
 *
 *   const findContact = statement((db) =>
 *     db.select().from(contacts).where(eq(contacts.email, parameter('email'))))
 *   const contact = await tx.find(findContact, { email })
 */
import {
  type Compiled,
  compileSql,
  type Db,
  type Statement,
  StoreDb,
  StoreQuery,
  type Values,
} from './database.ts'
import { Column, is, Param, Placeholder, type SQL, sql } from './drizzle.ts'

type Preparable = { prepare(): { all(values?: Values): Promise<unknown> } }
type RowOf<Builder> = Builder extends { prepare(): { all(values?: Values): Promise<(infer R)[]> } }
  ? R
  : never
type Decoder = { mapFromDriverValue(value: unknown): unknown }

/**
 * A statement from a builder, or from raw SQL, whose rows are objects by column name. Safe as a
 * module constant: nothing is built before its first use.
 */
export function statement<Builder extends Preparable>(
  build: (db: Db) => Builder,
): Statement<RowOf<Builder>>
export function statement<Row>(build: (db: Db) => Preparable | SQL): Statement<Row>
export function statement<Row>(build: (db: Db) => Preparable | SQL): Statement<Row> {
  let compiled: Compiled<Row> | undefined
  return {
    compiled() {
      compiled ??= compile<Row>(build(new StoreDb(neverRun)))
      return compiled
    },
  }
}

/** A value given at each run; drizzle's types know placeholders in fewer places than drizzle. */
export function parameter(name: string): InstanceType<typeof Placeholder> & SQL {
  return sql.placeholder(name) as InstanceType<typeof Placeholder> & SQL
}

function compile<Row>(built: Preparable | SQL): Compiled<Row> {
  if (!('prepare' in built)) {
    const { sql: text, params } = compileSql(built)
    return { text, bind: binder(params), decode: undefined }
  }
  const query = built.prepare()
  if (!(query instanceof StoreQuery)) throw new TypeError('Build the statement from the given db.')
  const { sql: text, params } = query.getQuery()
  return { text, bind: binder(params), decode: decoder<Row>(query) }
}

/** Puts the values of one run where the placeholders stand, through the columns' encoders. */
function binder(params: unknown[]): (values: Values | undefined) => unknown[] {
  const slots = params.map(slot)
  return (values = {}) =>
    slots.map(({ name, constant, encode }) => {
      if (name === undefined) return constant
      const value = values[name]
      if (value === undefined) throw new TypeError(`The statement needs a value for "${name}".`)
      return value === null || !encode ? value : encode(value)
    })
}

type Slot = { name?: string; constant?: unknown; encode?: (value: unknown) => unknown }

function slot(param: unknown): Slot {
  if (is(param, Placeholder)) return { name: param.name }
  if (!is(param, Param) || !is(param.value, Placeholder)) return { constant: param }
  const { encoder } = param
  return { name: param.value.name, encode: (value) => encoder.mapToDriverValue(value) }
}

/** Rows of plain columns are decoded here, ten times as fast; joins keep drizzle's own mapping. */
function decoder<Row>(query: StoreQuery): (row: unknown[]) => Row {
  const { fields, mapper } = query.selection
  const isFlat = fields?.every(({ path, field }) => path.length === 1 && is(field, Column))
  if (!fields || mapper || !isFlat) return (row) => query.mapRow(row) as Row
  const columns = fields.map(({ path, field }) => ({ key: path[0] ?? '', decode: decodes(field) }))
  return (row) => {
    const result: Values = {}
    let index = 0
    for (const { key, decode } of columns) {
      const value = row[index++]
      result[key] = value === null || !decode ? value : decode.mapFromDriverValue(value)
    }
    return result as Row
  }
}

/** The column's decoder, unless it is the one that changes nothing. */
function decodes(field: unknown): Decoder | undefined {
  if (!is(field, Column)) return undefined
  return field.mapFromDriverValue === Column.prototype.mapFromDriverValue ? undefined : field
}

function neverRun(): never {
  throw new TypeError('A statement is run by tx, store.read or store.scan, not while it is built.')
}
