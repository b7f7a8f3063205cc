/** Counts the emails of a list (`list-emails.ts`), along the same index. */
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { Base } from '../../ground/base.ts'
import { addCounts, countStretches, type RowCount } from '../../ground/list-totals.ts'
import { chooseEmailPath, type EmailFilter, type EmailPath } from './email-path.ts'
import { FILTERED, KEYS, type LaneRange, ORDERS, type Position, rowsOf } from './path-rows.ts'

type Deps = Pick<Base, 'store' | 'listTotals'>

export async function countEmails(deps: Deps, filter: EmailFilter): Promise<RowCount> {
  const path = await chooseEmailPath(deps, filter)
  const paths = path.rest === undefined ? [path] : [path, path.rest.path]
  const counts: RowCount[] = []
  for (const each of paths) {
    for (const lane of each.lanes) counts.push(await countLane(deps, each, lane))
  }
  return addCounts(deps, counts)
}

function countLane(
  { store, listTotals: { stretch } }: Deps,
  path: EmailPath,
  lane: SQL,
): Promise<RowCount> {
  return countStretches<Position>(async (after) => {
    const [row] = await store.scan.all<{ count: number }>(
      countStretch(path, { lane, after, stretch }),
    )
    const [end] = await store.scan.all<Position>(
      sql`select ${KEYS} ${rowsOf(path, { lane, after })}
        order by ${ORDERS[path.key]} limit 1 offset ${stretch - 1}`,
    )
    return { count: row?.count ?? 0, end }
  })
}

/** The rows of a stretch that match. Without a filter the index is enough. */
export function countStretch(path: EmailPath, lane: LaneRange & { stretch: number }): SQL {
  const { ownFilter: filter } = path
  const columns = filter === undefined ? sql`1` : FILTERED
  const rows = sql`select ${columns} ${rowsOf(path, lane)}
    order by ${ORDERS[path.key]} limit ${lane.stretch}`
  return sql`select count(*) as count from (${rows})${filter === undefined ? sql`` : sql` where ${filter}`}`
}
