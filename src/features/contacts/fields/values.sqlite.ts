import { indexedBy } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'

/** As long as a condition's own values may be. */
const MAX_LENGTH = 1000
/** Of such a text in quotes, where nothing in it is escaped. */
const MAX_PLAIN = MAX_LENGTH + 2

/**
 * Of one half of a project (`subscribed`), which the index has in the order of its numbers, until
 * there are enough. Each value is taken out of its data once, as JSON: without the inner limit
 * SQLite would do that again for every term outside.
 */
export const selectValues = statement<{ json: string }>(
  () => sql`
    select distinct json from (
      select data -> ${parameter('path')} as json from contacts ${indexedBy('contacts_order')}
        where project_id = ${parameter('projectId')} and subscribed = ${parameter('subscribed')}
        limit -1)
    where json <> 'null' and substr(json, 1, 1) not in ('[', '{')
      and (length(json) <= ${MAX_PLAIN} or length(json ->> '$') <= ${MAX_LENGTH})
    limit ${parameter('most')}`,
)
