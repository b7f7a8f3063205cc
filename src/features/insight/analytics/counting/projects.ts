/**
 * The projects whose events count: not those that are being reset or deleted, and none for events from
 * before a reset. So no count of what was erased comes back, however far behind the follower is.
 */
import { listOf } from '../../../../store/dialect.ts'
import { and, isNull, sql } from '../../../../store/drizzle.ts'
import { type Project, projects } from '../../../../store/schema/accounts.ts'
import type { CountedEvent } from '../../../../store/schema/analytics.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'

export type CountedProject = Pick<Project, 'id' | 'countedAfter'>

const listCounted = statement((db) =>
  db
    .select({ id: projects.id, countedAfter: projects.countedAfter })
    .from(projects)
    .where(
      and(
        sql`${projects.id} in ${listOf(parameter('ids'))}`,
        isNull(projects.resetSince),
        isNull(projects.deletedAt),
      ),
    ),
)

/** By their ids. */
export async function findProjects(
  tx: Tx,
  events: readonly CountedEvent[],
): Promise<ReadonlyMap<string, CountedProject>> {
  const ids = JSON.stringify([...new Set(events.map(({ projectId }) => projectId))])
  const found = await tx.list(listCounted, { ids })
  return new Map(found.map((project) => [project.id, project]))
}
