/**
 * Compares the tables of `src/store/schema/`, as drizzle reads them, with a database that all migrations
 * have made. `test/scripts/schema` compares their text with what `npm run schema` writes.
 */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { silentLog } from '../../../src/base/log.ts'
import { NAMED_INDEXES } from '../../../src/store/dialect.ts'
import { is, sql } from '../../../src/store/drizzle.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { cleanUpAfterFile } from '../../file-cleanup.ts'
import { makeDatabaseFolder } from '../test-store.ts'

const require = createRequire(import.meta.url)
const { getTableConfig, SQLiteTable } = require('drizzle-orm/sqlite-core') as {
  getTableConfig: typeof import('drizzle-orm/sqlite-core').getTableConfig
  SQLiteTable: typeof import('drizzle-orm/sqlite-core').SQLiteTable
}

type SchemaTable = InstanceType<typeof SQLiteTable>
type Shape = { type: string; isNotNull: boolean; isKey: boolean; default: unknown }
type ColumnInfo = {
  name: string
  type: string
  notnull: number
  dflt_value: string | null
  pk: number
}

/** Tables that only raw SQL uses, with the reason. */
const UNDESCRIBED: Record<string, string> = {
  program_versions: 'kept by the migrations themselves: migrate.ts',
  contact_search: 'a full-text index (FTS5), which drizzle cannot describe',
}

describe('the schema', () => {
  const cleanup = cleanUpAfterFile()
  let store: Store
  let described: Map<string, SchemaTable>

  before(async () => {
    const { path: file } = await makeDatabaseFolder(cleanup)
    store = await openStore({ path: file, log: silentLog() })
    cleanup.after(() => store.close())
    described = await readSchema()
  })

  it('describes every table of the database, and no other', async () => {
    const rows = await store.read.all<{ name: string }>(
      sql`select name from pragma_table_list
          where schema = 'main' and type in ('table', 'virtual') and name not like 'sqlite_%'`,
    )
    const names = rows.map(({ name }) => name).filter((name) => !(name in UNDESCRIBED))
    assert.deepEqual([...described.keys()].sort(), names.sort())
  })

  it('describes every column with its type, not-null, key and default', async () => {
    for (const [name, table] of described) {
      assert.deepEqual(shapesOfSchema(table), await shapesOfDatabase(store, name), name)
    }
  })

  it('has the primary keys of the database, in their order', async () => {
    for (const [name, table] of described) {
      const columns = await readColumns(store, name)
      const keys = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
      assert.deepEqual(
        keysOfSchema(table),
        keys.map((key) => key.name),
        name,
      )
    }
  })

  it('has every index that queries name', async () => {
    const rows = await store.read.all<{ name: string }>(
      sql`select name from sqlite_schema where type = 'index'`,
    )
    const names = rows.map(({ name }) => name)
    assert.deepEqual(
      NAMED_INDEXES.filter((name) => !names.includes(name)),
      [],
    )
  })
})

async function readSchema(): Promise<Map<string, SchemaTable>> {
  const folder = path.join(import.meta.dirname, '..', '..', '..', 'src', 'store', 'schema')
  const tables = new Map<string, SchemaTable>()
  for (const file of globSync('*.ts', { cwd: folder })) {
    const module: Record<string, unknown> = await import(
      pathToFileURL(path.join(folder, file)).href
    )
    for (const value of Object.values(module)) {
      if (is(value, SQLiteTable)) tables.set(getTableConfig(value).name, value)
    }
  }
  return tables
}

function readColumns(store: Store, table: string): Promise<ColumnInfo[]> {
  return store.read.all<ColumnInfo>(sql`select * from pragma_table_info(${table})`)
}

function shapesOfSchema(table: SchemaTable): Record<string, Shape> {
  const keys = keysOfSchema(table)
  const shapes = getTableConfig(table).columns.map((column): [string, Shape] => [
    column.name,
    {
      type: column.getSQLType(),
      isNotNull: column.notNull,
      isKey: keys.includes(column.name),
      default: column.hasDefault ? column.mapToDriverValue(column.default) : undefined,
    },
  ])
  return Object.fromEntries(shapes.sort(byName))
}

async function shapesOfDatabase(store: Store, table: string): Promise<Record<string, Shape>> {
  const columns = await readColumns(store, table)
  const shapes = columns.map(({ name, type, notnull, dflt_value, pk }): [string, Shape] => [
    name,
    {
      type: type.toLowerCase(),
      // Keys are declared without NOT NULL.
      isNotNull: notnull === 1 || pk > 0,
      isKey: pk > 0,
      default: dflt_value === null ? undefined : readLiteral(dflt_value),
    },
  ])
  return Object.fromEntries(shapes.sort(byName))
}

function keysOfSchema(table: SchemaTable): string[] {
  const { columns, primaryKeys } = getTableConfig(table)
  const single = columns.filter((column) => column.primary)
  return [...single, ...primaryKeys.flatMap((key) => key.columns)].map((column) => column.name)
}

function readLiteral(text: string): unknown {
  return text.startsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : Number(text)
}

function byName([a]: [string, Shape], [b]: [string, Shape]): number {
  return a < b ? -1 : 1
}
