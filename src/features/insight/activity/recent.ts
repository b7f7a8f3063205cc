/**
 * Counts the activity of the last minutes, for a live indicator: events, and new emails. The start of
 * an execution is an event.
 */
import { MINUTE_MS } from '../../../base/clock.ts'
import { and, eq, gt, sql } from '../../../store/drizzle.ts'
import { firstIdAt } from '../../../store/ids.ts'
import { events } from '../../../store/schema/events.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { isListed } from '../../ground/events/unlisted.ts'

type RecentCount = { count: number; minutes: number }

/** At most this many of the server's newest emails are read. */
const MAX_EMAILS = 100_000

const isSince = and(
  eq(events.projectId, parameter('projectId')),
  gt(events.createdAt, parameter('since')),
  isListed,
)

/** Walks a range of events_listed. */
export const countSince = statement((db) =>
  db.select({ count: sql<number>`count(*)` }).from(events).where(isSince),
)

/** Ids are in the order of time, so no other index is needed. */
export const countEmailsSince = statement<{ count: number }>(
  () => sql`select count(*) as count from (
      select ${emails.projectId} as project_id from ${emails}
      where ${emails.id} > ${parameter('firstId')}
      order by ${emails.id} desc limit ${parameter('limit')}
    ) where project_id = ${parameter('projectId')}`,
)

export async function countRecent(
  { store, now }: Pick<Base, 'store' | 'now'>,
  projectId: string,
  minutes: number,
): Promise<RecentCount> {
  const since = now() - minutes * MINUTE_MS
  const limit = MAX_EMAILS
  const [happened, accepted] = await Promise.all([
    store.scan.find(countSince, { projectId, since }),
    store.scan.find(countEmailsSince, { projectId, firstId: firstIdAt(since), limit }),
  ])
  return { count: (happened?.count ?? 0) + (accepted?.count ?? 0), minutes }
}
