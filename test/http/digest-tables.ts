/** Digests of all tables, for tests of what a request changes. */
import { hash } from 'node:crypto'
import { sql } from '../../src/store/drizzle.ts'
import type { TestCore } from '../core.ts'

/** The log of requests, which refusals are written to, and what the engine keeps for itself. */
const OTHERS = ['api_requests', 'sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4']

/** By table. */
export async function digestTables({ store }: TestCore): Promise<Map<string, string>> {
  const tables = await store.read.all<{ name: string }>(
    sql`select name from sqlite_schema where type = 'table' order by name`,
  )
  const own = tables.filter(({ name }) => !OTHERS.includes(name))
  const digests = own.map(async ({ name }) => {
    const rows = await store.read.all(sql.raw(`select * from "${name}"`))
    return [name, hash('sha256', toText(rows))] as const
  })
  return new Map(await Promise.all(digests))
}

/** The tables whose rows differ. */
export function changedTables(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  return [...after].filter(([name, digest]) => before.get(name) !== digest).map(([name]) => name)
}

function toText(rows: unknown): string {
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}
