import { type SQL, type SQLiteColumn, sql } from '../../../store/drizzle.ts'

/** Whether an address begins with this text; case does not matter, and no character is special. */
export function beginsWith(address: SQLiteColumn, start: string): SQL {
  const wanted = start.toLowerCase()
  return sql`substr(lower(${address}), 1, ${Array.from(wanted).length}) = ${wanted}`
}
