/**
 * Fills every table that has rows of projects, as the schema describes it: a new table is filled, too.
 * Ids of other rows are those of the same project's rows.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { type SQL, sql } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import type { Reader, Store } from '../../../../src/store/store.ts'
import type { Tx } from '../../../../src/store/write/transaction.ts'
import { START } from '../../../core.ts'

type Column = { name: string; type: string; notnull: number; default: string | null; pk: number }
type ForeignKey = { table: string; from: string; to: string }
type Row = Record<string, unknown>
type Rows = ReadonlyMap<string, Row>
type Table = { name: string; columns: Column[]; foreignKeys: ForeignKey[] }
/** The rows of a project, by table: the condition that finds them. */
type Filled = Map<string, SQL>

/** References that are not declared: the column, and the table whose row it names. */
const REFERENCES: Record<string, string> = {
  contact_id: 'contacts',
  email_id: 'emails',
  segment_id: 'segments',
  campaign_id: 'campaigns',
  workflow_id: 'workflows',
  step_id: 'workflow_steps',
  content_id: 'contents',
  endpoint_id: 'webhook_endpoints',
  job_id: 'jobs',
}
/** Tables without a declared reference to a project or its rows. */
const UNDECLARED = ['attempts', 'chunks', 'import_chunks', 'inbound_messages']

/** Those of every core, whose schema is the same. */
let ownedTables: Promise<Table[]> | undefined

/** One row in each table; in `inbound_messages` another that is for `others` too. */
export async function fillProject(
  { read, write }: Pick<Store, 'read' | 'write'>,
  { projectId, userId, others }: { projectId: string; userId: string; others: string },
): Promise<Filled> {
  ownedTables ??= listTables(read)
  const tables = await ownedTables
  return write(async (tx) => {
    const filled: Filled = new Map()
    const rows = new Map<string, Row>([
      ['projects', { id: projectId }],
      ['users', { id: userId }],
    ])
    for (const table of inOrder(tables)) {
      const row = makeRow(table, { projectId, rows })
      await insert(tx, table, row)
      const keys = table.columns.filter(({ pk }) => pk > 0)
      const key = keys.length > 0 ? keys : table.columns.filter(({ notnull }) => notnull === 1)
      const isRow = sql.join(
        key.map(({ name }) => sql`${sql.identifier(name)} is ${row[name]}`),
        sql` and `,
      )
      filled.set(table.name, isRow)
      rows.set(table.name, row)
      if (table.name === 'inbound_messages') await addShared(tx, table, { row, projectId, others })
    }
    return filled
  })
}

/** How many of the rows are there, by table. */
export async function countFilled(read: Reader, filled: Filled): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const [table, isRow] of filled) {
    const text = sql`select count(*) as n from ${sql.identifier(table)} where ${isRow}`
    counts.set(table, (await read.get<{ n: number }>(text)).n)
  }
  return counts
}

export async function digestFilled(read: Reader, filled: Filled): Promise<string> {
  const rows: unknown[] = []
  for (const [table, isRow] of filled) {
    rows.push(await read.all(sql`select * from ${sql.identifier(table)} where ${isRow}`))
  }
  return hash('sha256', JSON.stringify(rows))
}

/** The places of the database, as `table.column`, whose text contains `part`. */
export async function findText(read: Reader, part: string): Promise<string[]> {
  const places: string[] = []
  for (const { name, columns } of await listAll(read)) {
    for (const column of columns) {
      const isThere = sql`instr(${sql.identifier(column.name)}, ${part}) > 0`
      const rows = await read.all(
        sql`select 1 from ${sql.identifier(name)} where ${isThere} limit 1`,
      )
      if (rows.length > 0) places.push(`${name}.${column.name}`)
    }
  }
  return places
}

/** All tables with columns and references; without those of the search index. */
export async function listAll(read: Reader): Promise<Table[]> {
  const names = await read.all<{ name: string }>(
    sql`select name from sqlite_schema where type = 'table' and sql not like 'CREATE VIRTUAL%'
      and name not like 'sqlite_%' and name not like 'contact_search_%'`,
  )
  return Promise.all(
    names.map(async ({ name }) => ({
      name,
      columns: await read.all<Column>(
        sql`select name, type, "notnull", dflt_value as "default", pk from pragma_table_info(${name})`,
      ),
      foreignKeys: await read.all<ForeignKey>(
        sql`select "table", "from", "to" from pragma_foreign_key_list(${name})`,
      ),
    })),
  )
}

/** Those whose rows belong to a project, directly or through other rows. */
async function listTables(read: Reader): Promise<Table[]> {
  const all = await listAll(read)
  const owned = new Set(['projects'])
  const isOwned = ({ name, columns, foreignKeys }: Table) =>
    UNDECLARED.includes(name) ||
    columns.some((column) => column.name === 'project_id') ||
    foreignKeys.some(({ table }) => owned.has(table))
  for (let size = 0; size !== owned.size; ) {
    size = owned.size
    for (const table of all) if (isOwned(table)) owned.add(table.name)
  }
  return all.filter(({ name }) => owned.has(name) && name !== 'projects')
}

/** A table after those that it refers to. */
function inOrder(tables: readonly Table[]): Table[] {
  const ordered: Table[] = []
  const names = new Set(tables.map(({ name }) => name))
  const place = (table: Table): void => {
    if (ordered.includes(table)) return
    for (const { name } of table.columns) {
      const target = targetOf(table, name)
      const owner = tables.find((other) => other.name === target?.table)
      if (owner !== undefined && owner !== table && names.has(owner.name)) place(owner)
    }
    ordered.push(table)
  }
  for (const table of tables) place(table)
  return ordered
}

function targetOf(
  { name, foreignKeys }: Table,
  column: string,
): Omit<ForeignKey, 'from'> | undefined {
  const declared = foreignKeys.find(({ from }) => from === column)
  if (declared !== undefined) return declared
  const table = name === 'chunks' && column === 'owner_id' ? 'contents' : REFERENCES[column]
  return table === undefined || table === name ? undefined : { table, to: 'id' }
}

function makeRow(table: Table, { projectId, rows }: { projectId: string; rows: Rows }): Row {
  const row: Row = {}
  for (const { name, type, notnull, default: fallback, pk } of table.columns) {
    const target = targetOf(table, name)
    if (name === 'project_id') row[name] = projectId
    else if (target !== undefined) row[name] = rows.get(target.table)?.[target.to] ?? null
    else if (pk > 0 || (notnull === 1 && fallback === null)) row[name] = someValue(type, pk)
  }
  return { ...row, ...exceptions(table.name, projectId) }
}

let lastNumber = 1_000_000

function someValue(type: string, pk: number): unknown {
  if (type === 'BLOB') return Buffer.from(pk > 0 ? newId() : 'x')
  if (type === 'INTEGER') return pk > 0 ? ++lastNumber : 1
  return newId()
}

/** Values that triggers or the program read. */
function exceptions(table: string, projectId: string): object {
  switch (table) {
    case 'contents':
      return { chunk_bytes: 1, attachments: '[]', body: 'b' }
    case 'contacts':
      return { data: '{"plan":"pro"}', subscribed: 1 }
    case 'segment_members':
      return { exited_at: null }
    case 'jobs':
      return {
        ...{ kind: 'import', state: 'completed', completed_at: START },
        payload: JSON.stringify({ uploadId: `upload ${projectId}` }),
      }
    case 'import_chunks':
      return { upload_id: `upload ${projectId}` }
    case 'inbound_messages':
      return { recipients: recipientsOf(projectId), state: 'processed', raw: Buffer.from('x') }
    default:
      return {}
  }
}

function recipientsOf(...projectIds: string[]): string {
  return JSON.stringify(
    projectIds.map((projectId) => ({ for: 'mailbox', address: 'a@shop.test', projectId })),
  )
}

async function addShared(
  tx: Tx,
  table: Table,
  { row, projectId, others }: { row: Row; projectId: string; others: string },
): Promise<void> {
  await insert(tx, table, { ...row, id: newId(), recipients: recipientsOf(projectId, others) })
}

async function insert(tx: Tx, { name }: Table, row: Row): Promise<void> {
  const columns = Object.keys(row).map((column) => sql.identifier(column))
  const values = Object.values(row).map((value) =>
    typeof value === 'number' ? sql.raw(String(value)) : sql`${value}`,
  )
  assert.ok(columns.length > 0, name)
  await tx.run(sql`insert into ${sql.identifier(name)} (${sql.join(columns, sql`, `)})
    values (${sql.join(values, sql`, `)}) on conflict do nothing`)
}
