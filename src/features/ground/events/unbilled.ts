/**
 * SQL: the number of the last event that billing has counted. Later events wait for billing, also
 * after their deletion.
 */
import { sql } from '../../../store/drizzle.ts'

export const billedUntil = sql`(select seq from event_followers where name = 'billing')`
