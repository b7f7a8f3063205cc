/** How much the feed has of the last minutes: what a live indicator asks for. */
import { and, eq, gt, sql } from '../../store/drizzle.ts'
import { events } from '../../store/schema.ts'
import { parameter, statement } from '../../store/store.ts'
import type { Core } from '../core.ts'

export type RecentCount = { count: number; minutes: number }

/** The index alone answers: an email stands there by each of its events. */
export const countSince = statement((db) =>
  db
    .select({ count: sql<number>`count(*)` })
    .from(events)
    .where(
      and(eq(events.projectId, parameter('projectId')), gt(events.createdAt, parameter('since'))),
    ),
)

export async function countRecent(
  { store, now }: Pick<Core, 'store' | 'now'>,
  projectId: string,
  minutes: number,
): Promise<RecentCount> {
  const since = now() - minutes * 60_000
  const row = await store.scan.find(countSince, { projectId, since })
  return { count: row?.count ?? 0, minutes }
}
