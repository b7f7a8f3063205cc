/**
 * Sources of activity that is not stored as events: scheduled campaigns, scheduled emails of workflows,
 * active executions.
 * A feature with such records adds a row to `ACTIVITY_SOURCES`.
 * `test/features/ground/references/registry.test.ts` fails while the schema has such a table that is
 * missing here.
 */
import { listActiveExecutions } from './active-executions.ts'
import { listUpcomingCampaigns } from './scheduled-campaigns.ts'
import { listUpcomingWorkflowEmails } from './scheduled-workflow-emails.ts'
import type { UpcomingSource } from './upcoming-source.ts'

type ActivitySource = {
  /** The table, as in the database. */
  table: string
  /** What is scheduled to be sent. */
  listUpcoming?: UpcomingSource
  /** What goes on, and is not scheduled to be sent. */
  listActive?: UpcomingSource
}

export const ACTIVITY_SOURCES: readonly ActivitySource[] = [
  { table: 'campaigns', listUpcoming: listUpcomingCampaigns },
  {
    table: 'workflow_executions',
    listUpcoming: listUpcomingWorkflowEmails,
    listActive: listActiveExecutions,
  },
  { table: 'workflow_step_executions' },
]
