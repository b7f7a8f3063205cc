import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'

/** The data of this many newest events of a name is read. */
const SAMPLE = 100
/** At most this many keys are listed: more keys come from a mistake in a client. */
const MAX_KEYS = 1_000

/**
 * The keys in the data of the newest events of a name, and the JSON types of their values. A value
 * `{ value, persistent: false }` counts as the value inside it.
 */
export const listEventKeys = statement<{ key: string; type: string; rows: number }>(
  () => sql`select entry.key, case
      when entry.type = 'object' and json_type(entry.value, '$.persistent') = 'false'
        and json_type(entry.value, '$.value') is not null
      then json_type(entry.value, '$.value') else entry.type end as type,
      count(*) as "rows"
    from (select data from events
        where project_id = ${parameter('projectId')} and name = ${parameter('name')}
          and data is not null
        order by created_at desc limit ${sql.raw(String(SAMPLE))}) as recent,
      json_each(recent.data) as entry
    where json_type(recent.data) = 'object'
    group by 1, 2 order by 1, 3 desc limit ${sql.raw(String(MAX_KEYS))}`,
)
