/**
 * Received mail that nothing automatic acts on unless it asks for it: of a machine, and beyond the limit of its
 * sender (`isCapped`, `receiving/limits.ts`), which may be a machine that does not say so. Workflows
 * and filters pass over it.
 */
import { jsonValue } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { EventRow } from '../../../store/schema/events.ts'

export const RECEIVED = 'email.received'

/** `autoReply`: of events from before `automatic` existed. */
const MARKS = ['automatic', 'autoReply', 'isCapped']

export function isAutomaticEvent({ name, data }: Pick<EventRow, 'name' | 'data'>): boolean {
  return name === RECEIVED && MARKS.some((mark) => data?.[mark] === true)
}

/** The same of a row of `events` whose name is `email.received`; never null. */
export const isAutomaticRow: SQL = sql`(${sql.join(
  MARKS.map((mark) => sql`${jsonValue(sql`events.data`, mark)} is true`),
  sql` or `,
)})`
