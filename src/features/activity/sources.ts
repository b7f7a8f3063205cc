/**
 * Sources of activity that is not stored as events: the future (scheduled campaigns, emails of
 * workflows) and starts of workflows. A feature with such records adds a row to `ACTIVITY_SOURCES`.
 * `test/features/references/registry.test.ts` fails while the schema has such a table that is
 * missing here.
 */
import type { Base } from '../base.ts'
import type { Activity } from './entry.ts'

/** Epoch ms: `from` is excluded, `until` is included. */
type UpcomingQuery = { projectId: string; from: number; until: number; limit: number }

/** Lists at most `limit` activities, soonest first. */
export type UpcomingSource = (
  deps: Pick<Base, 'store'>,
  query: UpcomingQuery,
) => Promise<Activity[]>

/** Counts the workflows that started in a time: `after` is excluded, `until` is included. */
type StartCounter = (
  deps: Pick<Base, 'store'>,
  query: { projectId: string; after: number; until: number },
) => Promise<number>

type ActivitySource = {
  /** The table, as in the database. */
  table: string
  listUpcoming?: UpcomingSource
  countWorkflowsStarted?: StartCounter
}

export const ACTIVITY_SOURCES: readonly ActivitySource[] = []
