/** A table or a view as code of drizzle, with its comments and the type of its rows. */
import {
  FOLLOWING,
  JSON_TYPES,
  NAMES,
  OMITTED,
  ROWS,
  TYPES,
  VIEWS,
} from '../../src/store/schema/annotations.ts'
import { DOCS } from '../../src/store/schema/docs.ts'
import type { Catalogue, Column, Table } from './read-catalogue.ts'
import { writeComment } from './write-comment.ts'

/** Column types of `columns.ts` that stand for a type; all others get `$type`. */
const COLUMN_TYPES: Record<string, string> = { boolean: 'bool', 'StoredStep[]': 'stepList' }

/** @throws TypeError when the catalogue has no such table */
export function writeTable(name: string, catalogue: Catalogue): string {
  const view = VIEWS[name]
  if (view !== undefined) return writeView(name, view, catalogue)
  const table = tableOf(catalogue, name)
  const keys = keysOf(table)
  const columns = inOrder(table).map((column) => {
    const note = DOCS[`${name}.${column.name}`]
    return `${writeComment(note, '  ')}  ${propertyOf(name, column)}: ${writeColumn(table, column)},\n`
  })
  const key =
    keys.length < 2
      ? ''
      : `, (table) => [primaryKey({ columns: [${keys
          .map((column) => `table.${propertyOf(name, column)}`)
          .join(', ')}] })]`
  return `${writeComment(DOCS[name])}export const ${camelCase(name)} = sqliteTable('${name}', {
${columns.join('')}}${key})\n`
}

/** The type of a row; nothing for a table without one. */
export function writeRowType(name: string): string[] {
  const type = ROWS[name]
  if (type === undefined) return []
  const row = `InferSelectModel<typeof ${camelCase(name)}>`
  const omitted = OMITTED[name]
  return omitted === undefined
    ? [`export type ${type} = ${row}\n`]
    : [`/** Without \`${omitted}\`. */\nexport type ${type} = Omit<${row}, '${omitted}'>\n`]
}

/** Columns of a view have no types in the catalogue: they are those of a table. */
function writeView(
  name: string,
  { like, without }: { like: string; without: string[] },
  catalogue: Catalogue,
): string {
  const table = tableOf(catalogue, like)
  const known = catalogue.views.get(name)
  const columns = inOrder(table).filter((column) => !without.includes(column.name))
  const missing = columns.find((column) => known?.includes(column.name) !== true)
  if (missing !== undefined) throw new TypeError(`the view ${name} has no column ${missing.name}`)
  const lines = columns.map((column) => {
    const isNotNull = column.isNotNull || column.keyPlace > 0
    const code = writeColumn(table, { ...column, isNotNull, keyPlace: 0 })
    return `  ${propertyOf(like, column)}: ${code},\n`
  })
  return `${writeComment(DOCS[name])}export const ${camelCase(name)} = sqliteView('${name}', {
${lines.join('')}}).existing()\n`
}

function writeColumn(table: Table, column: Column): string {
  const { name } = column
  const json = noteOf(JSON_TYPES, table.name, name)
  const type = noteOf(TYPES, table.name, name) ?? typeOf(column)
  const custom = json === undefined ? COLUMN_TYPES[type ?? ''] : 'jsonColumn'
  const shown = custom === undefined ? type : json === 'unknown' ? undefined : json
  return [
    custom !== undefined
      ? `${custom}('${name}')`
      : `${column.type}('${name}'${column.type === 'blob' ? ", { mode: 'buffer' }" : ''})`,
    shown === undefined ? '' : `.$type<${shown}>()`,
    isOnlyKey(table, column)
      ? `.primaryKey(${table.isAutoIncrement ? '{ autoIncrement: true }' : ''})`
      : column.isNotNull
        ? '.notNull()'
        : '',
    column.default === undefined ? '' : `.default(${literal(column.default, custom === 'bool')})`,
  ].join('')
}

/** What names and checks say; undefined if no more than the type of SQL. */
function typeOf({ name, type, allowed }: Column): string | undefined {
  if (type === 'integer') {
    const isFlag = /^(?:is|has|are)_/.test(name) || allowed?.toSorted().join() === '0,1'
    return isFlag ? 'boolean' : undefined
  }
  return type === 'text' ? allowed?.join(' | ') : undefined
}

function isOnlyKey(table: Table, column: Column): boolean {
  return column.keyPlace > 0 && keysOf(table).length === 1
}

function keysOf({ columns }: Table): Column[] {
  return columns
    .filter(({ keyPlace }) => keyPlace > 0)
    .sort((one, other) => one.keyPlace - other.keyPlace)
}

function inOrder({ name, columns }: Table): Column[] {
  const following = Object.entries(FOLLOWING[name] ?? {})
  const moved = new Set(following.flatMap(([, names]) => names))
  const behind = new Map(following)
  const byName = new Map(columns.map((column) => [column.name, column]))
  const withFollowing = (column: Column): Column[] => [
    column,
    ...(behind.get(column.name) ?? []).flatMap((each) => {
      const next = byName.get(each)
      return next === undefined ? [] : withFollowing(next)
    }),
  ]
  return columns.filter((column) => !moved.has(column.name)).flatMap(withFollowing)
}

function tableOf(catalogue: Catalogue, name: string): Table {
  const table = catalogue.tables.get(name)
  if (table === undefined) throw new TypeError(`the migrations make no table ${name}`)
  return table
}

function propertyOf(table: string, column: Column): string {
  return noteOf(NAMES, table, column.name) ?? camelCase(column.name)
}

function noteOf(notes: Record<string, string>, table: string, column: string): string | undefined {
  return notes[`${table}.${column}`] ?? notes[column]
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function literal(value: number | string, isBoolean: boolean): string {
  if (isBoolean) return String(value !== 0)
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "\\'")}'`
}
