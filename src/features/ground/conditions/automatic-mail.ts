/**
 * Automatic mail is mail that a machine sent, or that comes from a sender beyond its hourly limit
 * (`isCapped`, `receiving/limits.ts`), because such a sender may be a machine that does not say so.
 * Workflows and filters pass over automatic mail unless they ask for it.
 */
import { jsonValue } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { EventRow } from '../../../store/schema/events.ts'

export const RECEIVED = 'email.received'

/**
 * The fields of an event's data that mark automatic mail. Old events have `autoReply` in place of
 * `automatic`.
 */
const MARKS = ['automatic', 'autoReply', 'isCapped']

export function isAutomaticEvent({ name, data }: Pick<EventRow, 'name' | 'data'>): boolean {
  return name === RECEIVED && MARKS.some((mark) => data?.[mark] === true)
}

/** Whether a row of `events` with the name `email.received` is automatic mail; never null. */
export const isAutomaticRow: SQL = sql`(${sql.join(
  MARKS.map((mark) => sql`${jsonValue(sql`events.data`, mark)} is true`),
  sql` or `,
)})`
