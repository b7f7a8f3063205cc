import { UNLISTED_EVENTS } from '../../../records/words.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'

/**
 * Whether an event is listed. Followers, conditions and the usage of a name include unlisted
 * events, too. The expression repeats the condition of the partial index `events_listed`, because
 * SQLite uses the index only for such a query.
 */
export const isListed: SQL = sql.raw(
  `name not in (${UNLISTED_EVENTS.map((name) => `'${name}'`).join(', ')})`,
)
