/**
 * The tables and views of a database to which all migrations were applied, as SQLite's catalogue
 * describes them. Virtual tables, such as the search index, have their statements in SQL only.
 */
import Database from 'better-sqlite3'
import type { Migration } from '../../src/store/migrate.ts'

export type Column = {
  name: string
  type: 'blob' | 'integer' | 'text'
  isNotNull: boolean
  /** The place in the primary key, from 1; 0 outside. */
  keyPlace: number
  default: number | string | undefined
  /** The values that a `CHECK (name IN (…))` allows, as SQL writes them. */
  allowed: string[] | undefined
}

export type Table = { name: string; columns: Column[]; isAutoIncrement: boolean }

export type Catalogue = {
  tables: Map<string, Table>
  /** By name, the names of their columns. */
  views: Map<string, string[]>
}

type Entry = { name: string; type: string; sql: string }
type ColumnInfo = {
  name: string
  type: string
  notnull: number
  dflt_value: string | null
  pk: number
  hidden: number
}

/** @throws TypeError for what the schema cannot express; SQLite's error */
export function readCatalogue(migrations: readonly Pick<Migration, 'sql'>[]): Catalogue {
  const database = new Database(':memory:')
  try {
    for (const { sql } of migrations) database.exec(sql)
    const entries = database
      .prepare<[], Entry>(
        `select list.name, list.type, made.sql from pragma_table_list list
         join sqlite_schema made on made.name = list.name
         where list.schema = 'main' and list.type in ('table', 'view')
           and list.name not like 'sqlite_%'`,
      )
      .all()
    const tables = entries
      .filter(({ type }) => type === 'table')
      .map((entry): [string, Table] => [entry.name, readTable(database, entry)])
    const views = entries
      .filter(({ type }) => type === 'view')
      .map(({ name }): [string, string[]] => [
        name,
        readColumns(database, name).map((column) => column.name),
      ])
    return { tables: new Map(tables), views: new Map(views) }
  } finally {
    database.close()
  }
}

function readTable(database: Database.Database, { name, sql }: Entry): Table {
  const checks = readChecks(sql)
  const columns = readColumns(database, name).map((info): Column => {
    const at = `${name}.${info.name}`
    if (info.hidden !== 0)
      throw new TypeError(`${at} is generated: scripts/schema has no such column`)
    return {
      name: info.name,
      type: readType(info.type, at),
      isNotNull: info.notnull === 1,
      keyPlace: info.pk,
      default: info.dflt_value === null ? undefined : readLiteral(info.dflt_value, at),
      allowed: checks.get(info.name),
    }
  })
  return { name, columns, isAutoIncrement: /\bautoincrement\b/i.test(sql) }
}

function readColumns(database: Database.Database, name: string): ColumnInfo[] {
  return database.prepare<[string], ColumnInfo>('select * from pragma_table_xinfo(?)').all(name)
}

/** By column. */
function readChecks(sql: string): Map<string, string[]> {
  const checks = sql.matchAll(/check\s*\(\s*(\w+)\s+in\s*\(([^()]*)\)\s*\)/gi)
  return new Map(
    [...checks].map(([, column = '', list = '']) => [
      column,
      list.split(',').map((value) => value.trim()),
    ]),
  )
}

function readType(type: string, at: string): Column['type'] {
  const name = type.toLowerCase()
  if (name === 'blob' || name === 'integer' || name === 'text') return name
  throw new TypeError(`${at} is ${type}: scripts/schema knows TEXT, INTEGER and BLOB`)
}

function readLiteral(text: string, at: string): number | string {
  if (/^'(?:[^']|'')*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'")
  if (/^-?\d+$/.test(text)) return Number(text)
  throw new TypeError(`${at} has the default ${text}: scripts/schema knows numbers and texts`)
}
