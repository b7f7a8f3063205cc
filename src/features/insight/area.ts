/** The parts that the area of insight hands in: counts of mail, and the reputation of projects. */
import { sql } from '../../store/drizzle.ts'
import {
  analyticsSubjects,
  eventCounts,
  linkCounts,
  mailCounts,
} from '../../store/schema/analytics.ts'
import {
  newProjectHours,
  reputationHours,
  reputationTotals,
} from '../../store/schema/reputation.ts'
import type { Base } from '../ground/base.ts'
import type { Area } from '../ground/manifest/area.ts'
import { erasedByDeletion, erasedByReset, exported } from '../ground/manifest/table.ts'
import { deleteExpiredQuarters } from './analytics/buckets.ts'
import { analyticsHandler } from './analytics/counting/follow-events.ts'
import { reputationHandler } from './reputation/follow-events.ts'
import { deleteExpiredHours } from './reputation/windows.ts'

/**
 * The counts are erased after these tables: events that are deleted before they are counted are
 * copied to `deleted_events`, and would count later.
 */
const after = ['events', 'deleted_events']

export const insight: Area<Base> = {
  name: 'insight',
  loops: [],
  lazyHandlers: [reputationHandler, analyticsHandler],
  jobs: [
    {
      name: 'delete-expired-reputation',
      schedule: '10 3 * * *',
      run: (parts, { signal }) => deleteExpiredHours(parts, signal),
    },
    {
      name: 'delete-expired-quarters',
      schedule: '40 4 * * *',
      // This job has a slot of its own, because a run may take minutes; a stop interrupts the run.
      atOnce: 1,
      run: (parts, { signal }) => deleteExpiredQuarters(parts, signal),
    },
  ],
  retentions: [],
  tables: [
    {
      table: newProjectHours,
      erasure: erasedByDeletion(newProjectHours, { key: () => sql`project_id, starts_at` }),
      export: 'counts for a limit of this server',
    },
    {
      table: reputationTotals,
      erasure: erasedByDeletion(reputationTotals, { key: () => sql`project_id` }),
      export: exported(reputationTotals),
    },
    {
      table: reputationHours,
      erasure: erasedByDeletion(reputationHours, { key: () => sql`project_id, starts_at` }),
      export: exported(reputationHours),
    },
    {
      table: analyticsSubjects,
      erasure: erasedByReset(analyticsSubjects),
      export: exported(analyticsSubjects),
    },
    {
      table: eventCounts,
      erasure: erasedByReset(eventCounts, {
        key: () => sql`project_id, span, starts_at, stream, subject`,
      }),
      export: exported(eventCounts),
    },
    {
      table: linkCounts,
      erasure: erasedByReset(linkCounts, {
        key: () => sql`project_id, span, starts_at, stream, subject`,
      }),
      export: exported(linkCounts),
    },
    {
      table: mailCounts,
      erasure: erasedByReset(mailCounts, {
        after,
        key: () => sql`project_id, kind, span, starts_at, stream, subject`,
      }),
      export: exported(mailCounts),
    },
  ],
  references: [],
}
