/**
 * Events for the handlers that count, each with what they need of its email. Events that were deleted before
 * 'analytics' and 'billing' had counted them come in their places, so a deletion changes no count. The database
 * copies and deletes such rows itself (triggers of migration 0017).
 *
 * Facts of the email are those at the time of reading, not of the event.
 */
import { unseen } from '../../../store/dialect.ts'
import { asc, getTableColumns, gt } from '../../../store/drizzle.ts'
import { type CountedEvent, countedEvents, deletedEvents } from '../../../store/schema/analytics.ts'
import { parameter, statement } from '../../../store/statement.ts'

const SEQ = parameter('seq')
const { host: _, ...columns } = getTableColumns(deletedEvents)

/** The parameters are `seq` and `limit`. The database merges the two lists, which are in the order of `seq`. */
export const listCounted = statement<CountedEvent>((db) =>
  db
    .select(columns)
    .from(deletedEvents)
    .where(gt(deletedEvents.seq, SEQ))
    .unionAll(db.select().from(countedEvents).where(gt(countedEvents.seq, SEQ)))
    .orderBy(asc(deletedEvents.seq))
    .limit(unseen(parameter('limit'))),
)
