/**
 * Lists and counts the names of a project's events. The query jumps through the index events_named
 * from each name to the next, so its cost depends on the number of names, not of events. The events
 * of a name are a range of the same index.
 */
import { UNLISTED_EVENTS } from '../../../records/words.ts'
import { eachOf, indexedBy } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../base.ts'

type EventCount = { name: string; count: number }

/** The range of times of the counted events: epoch ms, both ends included. */
type CountRange = { startAt?: number | undefined; endAt?: number | undefined }

const namesOfProject = sql`events ${indexedBy('events_named')} where project_id = ${parameter('projectId')}`

export const selectNames = statement<{ name: string }>(
  () => sql`with recursive names (name) as (
      select * from (select name from ${namesOfProject} order by name limit 1)
      union all
      select (select name from ${namesOfProject} and name > names.name order by name limit 1)
        from names where name is not null
      limit ${parameter('limit')}
    ) select name from names where name is not null`,
)

/** Only the first names are counted, because a public key can create any number of names. */
const MAX_COUNTED = 50_000
const NO_LIMIT = Number.MAX_SAFE_INTEGER
/**
 * The most queries. If there are fewer names, each name has its own query, so that no query is
 * long.
 */
const MAX_QUERIES = 200
/** As many queries run at a time as there are scan threads. */
const CONCURRENT_QUERIES = 2

/**
 * Lists at most `limit` names in alphabetical order; all names if `limit` is absent. Omits unlisted
 * names.
 */
export async function listNames(
  { store }: Pick<Base, 'store'>,
  { projectId, limit }: { projectId: string; limit?: number },
): Promise<string[]> {
  const rowLimit = limit === undefined ? NO_LIMIT : limit + UNLISTED_EVENTS.length
  const rows = await store.scan.list(selectNames, { projectId, limit: rowLimit })
  const names = rows.map(({ name }) => name).filter((name) => !UNLISTED_EVENTS.includes(name))
  return names.slice(0, limit)
}

/**
 * Counts the names that have events in the range, the most frequent first. In a project with more
 * than 50,000 names, only the first 50,000 in alphabetical order are counted.
 */
export async function countByName(
  deps: Pick<Base, 'store'>,
  projectId: string,
  range: CountRange = {},
): Promise<EventCount[]> {
  const names = await listNames(deps, { projectId, limit: MAX_COUNTED })
  const counts = await countAll(deps, { projectId, names, range })
  return counts.filter(({ count }) => count > 0).sort(byFrequency)
}

type CountQuery = { projectId: string; names: string[]; range: CountRange }

/** Counts a few names in each query, so that other queries run in between and both threads work. */
async function countAll({ store }: Pick<Base, 'store'>, query: CountQuery): Promise<EventCount[]> {
  const left = [...query.names]
  const size = Math.ceil(left.length / MAX_QUERIES)
  const counts: EventCount[] = []
  const work = async () => {
    while (left.length > 0) {
      const names = left.splice(0, size)
      counts.push(...(await store.scan.all<EventCount>(selectCounts({ ...query, names }))))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT_QUERIES }, work))
  return counts
}

export function selectCounts({ projectId, names, range }: CountQuery): SQL {
  return sql`select value as name, (
      select count(*) from events ${indexedBy('events_named')}
      where project_id = ${projectId} and name = value${inRange(range)}
    ) as count from ${eachOf(names)}`
}

function inRange({ startAt, endAt }: CountRange): SQL {
  const from = startAt === undefined ? sql`` : sql` and created_at >= ${startAt}`
  return endAt === undefined ? from : sql`${from} and created_at <= ${endAt}`
}

function byFrequency(one: EventCount, other: EventCount): number {
  return other.count - one.count || (one.name < other.name ? -1 : 1)
}
