/**
 * Sources of activity that is not stored as events: scheduled campaigns, scheduled emails of workflows.
 * A feature with such records adds a row to `ACTIVITY_SOURCES`.
 * `test/features/references/registry.test.ts` fails while the schema has such a table that is
 * missing here.
 */
import { listUpcomingCampaigns } from './scheduled-campaigns.ts'
import { listUpcomingWorkflowEmails } from './scheduled-workflow-emails.ts'
import type { UpcomingSource } from './upcoming-source.ts'

type ActivitySource = {
  /** The table, as in the database. */
  table: string
  listUpcoming?: UpcomingSource
}

export const ACTIVITY_SOURCES: readonly ActivitySource[] = [
  { table: 'campaigns', listUpcoming: listUpcomingCampaigns },
  { table: 'workflow_executions', listUpcoming: listUpcomingWorkflowEmails },
  { table: 'workflow_step_executions' },
]
