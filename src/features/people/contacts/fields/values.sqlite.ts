/** Reads the distinct values of a key in the data of contacts, one state of `subscribed` at a time. */
import { indexedBy } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'

/** The maximum length of a value in a condition, in characters. */
const MAX_CONDITION_VALUE_LENGTH = 1000
/** The length of the JSON of such a value with its quotes, if no character is escaped. */
const MAX_PLAIN_JSON_LENGTH = MAX_CONDITION_VALUE_LENGTH + 2

/**
 * Reads the values of either subscribed or unsubscribed contacts, in the order of the index.
 * `limit -1` makes SQLite extract each value once; otherwise SQLite extracts it again for each term
 * of the outer query.
 */
export const selectValues = statement<{ json: string }>(
  () => sql`
    select distinct json from (
      select data -> ${parameter('path')} as json from contacts ${indexedBy('contacts_order')}
        where project_id = ${parameter('projectId')} and subscribed = ${parameter('subscribed')}
        limit -1)
    where json <> 'null' and substr(json, 1, 1) not in ('[', '{')
      and (length(json) <= ${MAX_PLAIN_JSON_LENGTH} or length(json ->> '$') <= ${MAX_CONDITION_VALUE_LENGTH})
    limit ${parameter('limit')}`,
)
