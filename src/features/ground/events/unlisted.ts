import { type SQL, sql } from '../../../store/drizzle.ts'

/**
 * Events of the service that lists, names and counts include only when a request names them.
 * Followers, conditions and the usage of a name include them like any other event.
 */
export const UNLISTED_EVENTS: readonly string[] = ['email.failed', 'email.suppressed']

/**
 * Whether an event is listed. Repeats the condition of the partial index `events_listed`, because
 * SQLite uses the index only for such a query.
 */
export const isListed: SQL = sql.raw(
  `name not in (${UNLISTED_EVENTS.map((name) => `'${name}'`).join(', ')})`,
)
