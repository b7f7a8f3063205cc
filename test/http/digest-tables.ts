/** Digests of all tables, for tests of what a request changes. */
import { hash } from 'node:crypto'
import { serialize } from 'node:v8'
import { sql } from '../../src/store/drizzle.ts'
import type { Reader } from '../../src/store/store.ts'
import type { TestCore } from '../core.ts'

/** The log of requests, which refusals are written to, and what the engine keeps for itself. */
const OTHERS = ['api_requests', 'sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4']

type Digests = ReadonlyMap<string, string>

/** The last digests of each database, of the version that its reader gave before they were made. */
const made = new WeakMap<Reader, { version: number; digests: Digests }>()

/** By table. Tables are read only when another connection has committed since their last digests. */
export async function digestTables({ store: { read } }: Pick<TestCore, 'store'>): Promise<Digests> {
  const [row] = await read.all<{ data_version: number }>(sql`pragma data_version`)
  const version = row?.data_version
  if (version === undefined) throw new TypeError('the reader has no version')
  const last = made.get(read)
  if (last?.version === version) return last.digests
  const digests = await readDigests(read)
  made.set(read, { version, digests })
  return digests
}

async function readDigests(read: Reader): Promise<Digests> {
  const tables = await read.all<{ name: string }>(
    sql`select name from sqlite_schema where type = 'table' order by name`,
  )
  const own = tables.filter(({ name }) => !OTHERS.includes(name))
  const digests = own.map(async ({ name }) => {
    const rows = await read.values(sql.raw(`select * from "${name}"`))
    return [name, hash('sha256', serialize(rows))] as const
  })
  return new Map(await Promise.all(digests))
}

/** The tables whose rows differ. */
export function changedTables(before: Digests, after: Digests): string[] {
  return [...after].filter(([name, digest]) => before.get(name) !== digest).map(([name]) => name)
}
