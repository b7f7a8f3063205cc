/** The rows of all tables, for tests of what a request changes. */
import { sql } from '../../src/store/drizzle.ts'
import type { Reader } from '../../src/store/store.ts'
import type { TestCore } from '../core.ts'

/** The log of requests, which refusals are written to, and what the engine keeps for itself. */
const OTHERS = ['api_requests', 'sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4']

/** When a key or a session was used last, noted once a minute: a request that is refused may note that too. */
const LAST_USED = /(?:^|_)last_used_at$/

/** The rows of each table as one text. */
type Digests = ReadonlyMap<string, unknown>

/** The query for the tables of a database; its last result, and the version that its reader gave before. */
type Made = { query: string; version?: number; digests?: Digests }

const made = new WeakMap<Reader, Made>()

/** By table. Tables are read only when another connection has committed since they were read last. */
export async function digestTables({ store: { read } }: Pick<TestCore, 'store'>): Promise<Digests> {
  const [row] = await read.all<{ data_version: number }>(sql`pragma data_version`)
  const version = row?.data_version
  if (version === undefined) throw new TypeError('the reader has no version')
  const last: Made = made.get(read) ?? { query: await describeQuery(read) }
  if (last.version === version && last.digests !== undefined) return last.digests
  const [rows] = await read.all<Record<string, unknown>>(sql.raw(last.query))
  const digests = new Map(Object.entries(rows ?? {}))
  made.set(read, { query: last.query, version, digests })
  return digests
}

/** One query for all tables: a query for each would take most of the time of the tests that ask. */
async function describeQuery(read: Reader): Promise<string> {
  const columns = await read.all<{ name: string; column: string }>(
    sql`select t.name, c.name as "column" from sqlite_schema t, pragma_table_xinfo(t.name) c
      where t.type = 'table' and c.hidden <> 1 order by t.name, c.cid`,
  )
  const tables = Map.groupBy(columns, ({ name }) => name)
  for (const other of OTHERS) tables.delete(other)
  const fields = [...tables].map(([name, own]) => {
    // `quote` ends a text at its first NUL.
    const row = own
      .filter(({ column }) => !LAST_USED.test(column))
      .map(({ column }) => `quote("${column}")||ifnull(length(cast("${column}" as blob)), '')`)
      .join(`||','||`)
    return `(select group_concat(${row}, char(10)) from "${name}") as "${name}"`
  })
  return `select ${fields.join(', ')}`
}

/** The tables whose rows differ. */
export function changedTables(before: Digests, after: Digests): string[] {
  return [...after].filter(([name, digest]) => before.get(name) !== digest).map(([name]) => name)
}
