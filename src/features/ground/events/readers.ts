/**
 * Starts the two readers of events. Each reads an event once and passes it to its handlers in their order:
 *
 *   urgent   makes what somebody waits for: deliveries of webhooks, executions of workflows
 *   lazy     counts use, figures of campaigns, reputation and analytics. The lazy reader may be a second
 *            behind, to write the counts of many emails at once. It also gets events that were deleted
 *            before they were counted
 */
import { unseen } from '../../../store/dialect.ts'
import { asc, getTableColumns, gt } from '../../../store/drizzle.ts'
import { type CountedEvent, countedEvents, deletedEvents } from '../../../store/schema/analytics.ts'
import { events } from '../../../store/schema/events.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { type Follower, startFollower } from '../../../work/follower.ts'
import type { Base } from '../base.ts'
import type { LazyHandler, UrgentHandler } from '../event-handlers.ts'
import { createCursors, followedRows } from './followed-rows.ts'

type Deps = Pick<Base, 'store' | 'log' | 'now'>

/** For tests. `clock`: ms. */
type Options = { batch?: number; clock?: () => number }

/**
 * The most events of a batch. Batches are this large if their events cause no work; the reader
 * takes fewer when a batch takes long.
 */
const URGENT_BATCH = 250
/**
 * Under load, the reader waits this long between batches, so that one transaction handles all
 * events of that time.
 */
const URGENT_LINGER_MS = 10
/** The most events of a batch; the reader takes fewer when a batch takes long. */
const LAZY_BATCH = 4_000
const LAZY_LINGER_MS = 500

const listUrgent = statement((db) => {
  const { data: _, ...columns } = getTableColumns(events)
  return db
    .select(columns)
    .from(events)
    .where(gt(events.seq, parameter('seq')))
    .orderBy(asc(events.seq))
    .limit(unseen(parameter('limit')))
})

const SEQ = parameter('seq')
const { host: _, ...columns } = getTableColumns(deletedEvents)

/**
 * Lists the events for the handlers that count, each with the facts about its email that they need,
 * as of the reading. An event that was deleted before 'analytics' and 'billing' had counted it is
 * listed under its number too, so a deletion changes no count: triggers copy and delete such rows
 * (migration 0017). Both lists are in the order of `seq`, and the database merges them. The
 * parameters are `seq` and `limit`.
 */
const listCounted = statement<CountedEvent>((db) =>
  db
    .select(columns)
    .from(deletedEvents)
    .where(gt(deletedEvents.seq, SEQ))
    .unionAll(db.select().from(countedEvents).where(gt(countedEvents.seq, SEQ)))
    .orderBy(asc(deletedEvents.seq))
    .limit(unseen(parameter('limit'))),
)

export function startUrgentReader(
  deps: Deps,
  handlers: readonly UrgentHandler[],
  options: Options = {},
): Follower {
  return startFollower(deps, {
    ...{ name: 'urgent', handlers, batch: URGENT_BATCH, lingerMs: URGENT_LINGER_MS },
    rows: followedRows(deps.store, 'events', listUrgent),
    cursors: createCursors(deps),
    ...options,
  })
}

export function startLazyReader(
  deps: Deps,
  handlers: readonly LazyHandler[],
  options: Options = {},
): Follower {
  return startFollower(deps, {
    ...{ name: 'lazy', handlers, batch: LAZY_BATCH, lingerMs: LAZY_LINGER_MS },
    rows: followedRows(deps.store, 'events', listCounted),
    cursors: createCursors(deps),
    ...options,
  })
}
