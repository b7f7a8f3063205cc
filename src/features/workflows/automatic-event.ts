/** Events of received mail that a machine sent, which workflows pass over unless they ask for it. */

import { jsonValue } from '../../store/dialect.ts'
import { sql } from '../../store/drizzle.ts'
import type { EventRow } from '../../store/schema/events.ts'

/** `autoReply`: of events from before `automatic` existed. */
export function isAutomaticEvent({ name, data }: Pick<EventRow, 'name' | 'data'>): boolean {
  return name === 'email.received' && (data?.automatic === true || data?.autoReply === true)
}

/** The same of a row of `events` whose name is `email.received`. */
export const isAutomaticRow = sql`(${jsonValue(sql`events.data`, 'automatic')} is true
  or ${jsonValue(sql`events.data`, 'autoReply')} is true)`
