/** The place up to which events count for billing: later ones wait for it, also when they are deleted. */
import { sql } from '../../../store/drizzle.ts'

export const billedUntil = sql`(select seq from event_followers where name = 'billing')`
