/** Computes the delay before the next attempt of an email in SQL. */
import { type SQL, sql } from '../../../../store/drizzle.ts'

/**
 * The delay in milliseconds after `failures` failed attempts, with a jitter of 15%. `delays` is the
 * configured list as JSON; its last delay applies to all further failures.
 */
export function retryDelay(delays: SQL, failures: { getSQL(): SQL }): SQL {
  return sql`cast(json_extract(${delays},
    '$[' || min(${failures}, json_array_length(${delays}) - 1) || ']')
    * (85 + abs(random() % 31)) / 100 as integer)`
}
