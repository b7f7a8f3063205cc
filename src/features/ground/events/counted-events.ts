/**
 * Events for the followers that count mail ('analytics', 'billing'), each with what they need of its
 * email. Events that were deleted before both had counted them come in their places, so a deletion
 * changes no count. The database copies and deletes such rows itself (triggers of migration 0017).
 *
 * Facts of the email are those at the time of reading, not of the event.
 */
import { unseen } from '../../../store/dialect.ts'
import { and, asc, getTableColumns, gt, inArray } from '../../../store/drizzle.ts'
import { type CountedEvent, countedEvents, deletedEvents } from '../../../store/schema/analytics.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { FollowedRows } from './followed-rows.ts'

const SEQ = parameter('seq')

/** `names`: only events with one of these names; all if absent. */
export function countedRows(names?: readonly string[]): FollowedRows<CountedEvent> {
  const isNamed = (table: typeof countedEvents | typeof deletedEvents) =>
    names && inArray(table.name, [...names])
  const { host: _, ...columns } = getTableColumns(deletedEvents)
  return {
    table: 'events',
    // The database merges the two lists, which are in the order of `seq`.
    listAfter: statement<CountedEvent>((db) =>
      db
        .select(columns)
        .from(deletedEvents)
        .where(and(gt(deletedEvents.seq, SEQ), isNamed(deletedEvents)))
        .unionAll(
          db
            .select()
            .from(countedEvents)
            .where(and(gt(countedEvents.seq, SEQ), isNamed(countedEvents))),
        )
        .orderBy(asc(deletedEvents.seq))
        .limit(unseen(parameter('limit'))),
    ),
  }
}
