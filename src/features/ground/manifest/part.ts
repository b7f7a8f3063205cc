/** The rows of a project in one table, as statements that find, count and erase them. */
import type { Statement } from '../../../store/database.ts'
import { rowNumber } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'

/**
 * The parameters are those of `PartValues`; `erase` takes a `limit` too and deletes as many rows at
 * most.
 */
export type TablePart = {
  table: string
  /** Keeps the ids of the rows that `erase` deletes next. */
  keep: Statement<unknown> | undefined
  /** A row if the project has any. */
  find: Statement<{ found: number }>
  count: Statement<{ rows: number }>
  erase: Statement<unknown>
}

/** `jobId`: the job that erases. `before`: lines of the request log from then on stay. `at`: now. */
export type PartValues = { projectId: string; jobId: string; before: number; at: number }

/** `from`: the table and the condition after the word FROM. `key`: what identifies a row. */
export type PartSpec = {
  key?: () => SQL
  from?: () => SQL
  erase?: () => SQL
  /** Makes `keep` from a query of ids. */
  keep?: (ids: SQL) => SQL
}

export const LIMIT = parameter('limit')
export const isOwn = sql`project_id = ${parameter('projectId')}`

/** The ids of the project's rows in another table. */
export function ownOf(table: string): SQL {
  return sql`(select id from ${sql.raw(table)} where ${isOwn})`
}

export function partOf(table: string, spec: PartSpec = {}): TablePart {
  const key = spec.key ?? rowNumber
  const from = spec.from ?? (() => sql`${sql.raw(table)} where ${isOwn}`)
  const erase = () => sql`delete from ${sql.raw(table)} where (${key()}) in (
    select ${key()} from ${from()} limit ${LIMIT})`
  const keep = spec.keep
  return {
    table,
    keep: keep && statement(() => keep(sql`select id from ${from()} limit ${LIMIT}`)),
    find: statement(() => sql`select 1 as found from ${from()} limit 1`),
    count: statement(() => sql`select count(*) as rows from ${from()}`),
    erase: statement(spec.erase ?? erase),
  }
}
