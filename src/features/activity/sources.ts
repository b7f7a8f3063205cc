/**
 * Sources of activity that is not stored as events: the future (scheduled campaigns, emails of
 * workflows) and starts of workflows. A feature with such records adds a row to `ACTIVITY_SOURCES`.
 * `test/features/references/registry.test.ts` fails while the schema has such a table that is
 * missing here.
 */
import type { Base } from '../base.ts'
import { listUpcomingCampaigns } from './scheduled-campaigns.ts'
import type { UpcomingSource } from './upcoming-source.ts'

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

export const ACTIVITY_SOURCES: readonly ActivitySource[] = [
  { table: 'campaigns', listUpcoming: listUpcomingCampaigns },
]
