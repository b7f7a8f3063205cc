/** The rows of a project in one table, as statements that find, count and erase them. */
import type { Statement } from '../../../store/database.ts'
import { rowNumber } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'

/**
 * Statements on the rows of a project. Their parameters are `PartValues`; `erase` also takes a
 * `limit` and deletes at most as many rows.
 */
export type TablePart = {
  table: string
  /** Remembers the ids of the rows that `erase` deletes next. */
  keep: Statement<unknown> | undefined
  /** Finds one row if the project has any. */
  find: Statement<{ found: number }>
  count: Statement<{ rows: number }>
  erase: Statement<unknown>
}

/** `jobId`: the job that erases. `before`: lines of the request log from then on stay. `at`: now. */
export type PartValues = { projectId: string; jobId: string; before: number; at: number }

/**
 * `from`: the SQL after the word FROM: the table and the condition. `key`: the column that
 * identifies a row.
 */
export type PartSpec = {
  key?: () => SQL
  from?: () => SQL
  erase?: () => SQL
  /** Makes the statement `keep` from a query of ids. */
  keep?: (ids: SQL) => SQL
}

export const LIMIT = parameter('limit')
export const isOwn = sql`project_id = ${parameter('projectId')}`

/** SQL: the ids of the project's rows in another table. */
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
