/** Counts the events of a list, along the same indexes as its pages (`select-page.ts`). */
import { eachOf, indexedBy } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { Base } from '../base.ts'
import { addRowCounts, countStretches, type RowCount } from '../list-totals.ts'
import { type EventCursor, type EventScope, partsOf, spanOf } from './select-page.ts'

type Deps = Pick<Base, 'store' | 'listTotals'>

/** How many names one query counts together, if each name has few events. */
const NAMES_PER_QUERY = 10

export async function countEventsOf(deps: Deps, scope: EventScope): Promise<RowCount> {
  const { sources, names } = partsOf(scope)
  const counts: RowCount[] = []
  for (const source of sources) counts.push(await countSource(deps, scope, source))
  for (let at = 0; at < names.length; at += NAMES_PER_QUERY) {
    counts.push(...(await countNamed(deps, scope, names.slice(at, at + NAMES_PER_QUERY))))
  }
  return addRowCounts(deps, counts)
}

function countSource(
  { store, listTotals: { stretch } }: Deps,
  scope: EventScope,
  source: SQL,
): Promise<RowCount> {
  return countStretches<EventCursor>(async (after) => {
    const rows = sql`from events ${source}${spanOf({ ...scope, after })}
      order by created_at desc, seq desc`
    const [row] = await store.scan.all<{ count: number }>(
      sql`select count(*) as count from (select 1 ${rows} limit ${stretch})`,
    )
    const [end] = await store.scan.all<EventCursor>(
      sql`select created_at as at, seq ${rows} limit 1 offset ${stretch - 1}`,
    )
    return { count: row?.count ?? 0, end }
  })
}

/**
 * Counts the events of each name. A name with too many events for the common query has a count of
 * its own.
 */
async function countNamed(
  deps: Deps,
  scope: EventScope,
  names: readonly string[],
): Promise<RowCount[]> {
  const share = Math.max(1, Math.floor(deps.listTotals.stretch / names.length))
  const few = await deps.store.scan.all<{ name: string; count: number }>(
    selectFew(scope, names, share),
  )
  const counts: RowCount[] = []
  for (const { name, count } of few) {
    const isWhole = count < share
    const source = sql`${ofNames(scope)} and name = ${name}`
    counts.push(isWhole ? { total: count, isLong: false } : await countSource(deps, scope, source))
  }
  return counts
}

/** Selects the number of events of each name; stops counting a name at `share`. */
function selectFew(scope: EventScope, names: readonly string[], share: number): SQL {
  return sql`select value as name, (select count(*) from (select 1 from events ${ofNames(scope)}
    and name = value${spanOf(scope)} limit ${share})) as count from ${eachOf([...names])}`
}

function ofNames({ projectId }: EventScope): SQL {
  return sql`${indexedBy('events_named')} where project_id = ${projectId}`
}
