/**
 * Automatic mail: received mail of a machine, and mail beyond the limit of its sender (`isCapped`,
 * `receiving/limits.ts`), who may be a machine that does not say so. Workflows and filters pass over
 * automatic mail unless they ask for it.
 */
import { jsonValue } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { EventRow } from '../../../store/schema/events.ts'

export const RECEIVED = 'email.received'

/** `autoReply` is the mark in events from before `automatic` existed. */
const MARKS = ['automatic', 'autoReply', 'isCapped']

export function isAutomaticEvent({ name, data }: Pick<EventRow, 'name' | 'data'>): boolean {
  return name === RECEIVED && MARKS.some((mark) => data?.[mark] === true)
}

/** Whether a row of `events` with the name `email.received` is automatic mail; never null. */
export const isAutomaticRow: SQL = sql`(${sql.join(
  MARKS.map((mark) => sql`${jsonValue(sql`events.data`, mark)} is true`),
  sql` or `,
)})`
