import { indexedBy } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'

/** Characters of a value in a condition. */
const MAX_LENGTH = 1000
/** Characters of the JSON of such a text without escapes, with its quotes. */
const MAX_PLAIN = MAX_LENGTH + 2

/**
 * Values of the contacts with one value of `subscribed`, in the order of the index. `limit -1`
 * makes SQLite extract each value once; otherwise SQLite extracts it again for each term of the
 * outer query.
 */
export const selectValues = statement<{ json: string }>(
  () => sql`
    select distinct json from (
      select data -> ${parameter('path')} as json from contacts ${indexedBy('contacts_order')}
        where project_id = ${parameter('projectId')} and subscribed = ${parameter('subscribed')}
        limit -1)
    where json <> 'null' and substr(json, 1, 1) not in ('[', '{')
      and (length(json) <= ${MAX_PLAIN} or length(json ->> '$') <= ${MAX_LENGTH})
    limit ${parameter('limit')}`,
)
