/**
 * The modules of `src/store/schema` that describe tables, made from the migrations and the annotations.
 * The formatter still has to see them.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Migration } from '../../src/store/migrate.ts'
import {
  FOLLOWING,
  JSON_TYPES,
  MODULES,
  NAMES,
  OMITTED,
  ROWS,
  TYPES,
  VIEWS,
} from '../../src/store/schema/annotations.ts'
import { DOCS } from '../../src/store/schema/docs.ts'
import { type Catalogue, readCatalogue } from './read-catalogue.ts'
import { writeComment } from './write-comment.ts'
import { writeRowType, writeTable } from './write-table.ts'

export const SCHEMA_FOLDER = path.join(import.meta.dirname, '..', '..', 'src', 'store', 'schema')

const ORIGIN =
  'Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.'

/** The files that modules import, in the order of the linter, with the values that they export. */
const SOURCES: { file: string; values: string[] }[] = [
  { file: '../../base/queue-class.ts', values: [] },
  {
    file: '../drizzle.ts',
    values: ['blob', 'integer', 'primaryKey', 'sqliteTable', 'sqliteView', 'text'],
  },
  { file: './columns.ts', values: ['bool', 'jsonColumn', 'stepList'] },
  { file: './json-values.ts', values: [] },
  { file: './words.ts', values: [] },
]

/** The text of each module by the name of its file. @throws TypeError when an annotation fits nothing */
export function writeModules(migrations: readonly Pick<Migration, 'sql'>[]): Map<string, string> {
  const catalogue = readCatalogue(migrations)
  checkAnnotations(catalogue)
  return new Map(
    Object.entries(MODULES).map(([name, { doc, tables }]) => {
      const parts = tables.map((table) => writeTable(table, catalogue))
      const body = [...parts, ...tables.flatMap(writeRowType)].join('\n')
      return [`${name}.ts`, `${writeComment(`${doc}\n${ORIGIN}`)}${writeImports(body)}\n${body}`]
    }),
  )
}

function writeImports(body: string): string {
  const code = body.replace(/\/\*\*.*?\*\//gs, '')
  const lines = SOURCES.map(({ file, values }) => {
    const types = typesOf(file).filter((name) => new RegExp(`\\b${name}\\b`).test(code))
    const used = values.filter((name) => new RegExp(`(?<![\\w.])${name}\\(`).test(code))
    const isTypes = used.length === 0
    const names = [...used, ...types].sort((one, other) => one.localeCompare(other, 'en'))
    if (names.length === 0) return ''
    const list = names.map((name) => (isTypes || used.includes(name) ? name : `type ${name}`))
    return `import ${isTypes ? 'type ' : ''}{ ${list.join(', ')} } from '${file}'\n`
  })
  return lines.join('')
}

/** The types that a file exports. */
function typesOf(file: string): string[] {
  const text = readFileSync(path.join(SCHEMA_FOLDER, file), 'utf8')
  const names = text.matchAll(/^export type (?:(\w+)|\{([^}]*)\})/gm)
  return [...names].flatMap(([, name, list]) => (name ?? list ?? '').match(/\w+/g) ?? [])
}

/** Each table stands in one module, and each annotation is of a table or column that exists. */
function checkAnnotations({ tables, views }: Catalogue): void {
  const placed = Object.values(MODULES).flatMap((module) => module.tables)
  const columns = [...tables.values()].flatMap((table) =>
    table.columns.map((column) => `${table.name}.${column.name}`),
  )
  const moved = Object.entries(FOLLOWING).flatMap(([table, following]) =>
    Object.entries(following)
      .flatMap(([column, names]) => [column, ...names])
      .map((column) => `${table}.${column}`),
  )
  const known = new Set([...tables.keys(), ...views.keys(), ...columns])
  const anywhere = new Set(columns.map((column) => column.split('.')[1]))
  const annotated = [NAMES, TYPES, JSON_TYPES, DOCS, ROWS, OMITTED, VIEWS].flatMap(Object.keys)
  const faults = [
    ...[...tables.keys()]
      .filter((table) => !placed.includes(table))
      .map((table) => `the table ${table} stands in no module of MODULES`),
    ...placed
      .filter((table, index) => placed.indexOf(table) !== index)
      .map((table) => `the table ${table} stands in MODULES twice`),
    ...placed
      .filter((table) => !known.has(table))
      .map((table) => `the migrations make no table ${table}, which stands in MODULES`),
    ...[...annotated, ...moved]
      .filter((key) => !known.has(key) && !anywhere.has(key))
      .map((key) => `the annotation ${key} is of no table or column`),
  ]
  if (faults.length > 0)
    throw new TypeError(`src/store/schema/annotations.ts:\n${faults.join('\n')}`)
}
