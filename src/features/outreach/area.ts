/** The parts that the area of outreach hands in, for campaigns, workflows and webhooks. */
import { sql } from '../../store/drizzle.ts'
import { campaignLinks, campaignProgress, campaigns } from '../../store/schema/campaigns.ts'
import {
  type WebhookEndpoint,
  webhookDeliveries,
  webhookEndpoints,
  webhookSigningSecrets,
} from '../../store/schema/webhooks.ts'
import {
  chainStarts,
  type Workflow,
  type WorkflowStep,
  type WorkflowTransition,
  workflowExecutions,
  workflowFigures,
  workflowRequests,
  workflowStepExecutions,
  workflowSteps,
  workflows,
  workflowTransitions,
  workflowWaits,
} from '../../store/schema/workflows.ts'
import type { Base } from '../ground/base.ts'
import type { Area, AreaLoop } from '../ground/manifest/area.ts'
import { LIMIT, ownOf } from '../ground/manifest/part.ts'
import { erasedByDeletion, erasedByReset, exported, ownedBy } from '../ground/manifest/table.ts'
import { countUncounted } from './campaigns/audience/total-recipients.ts'
import { startRefusals } from './campaigns/brake/follow-refusals.ts'
import { CAMPAIGN_REFERENCES } from './campaigns/campaign.ts'
import { figuresHandler } from './campaigns/figures/figures.ts'
import { type CampaignsDeps, startCampaigns } from './campaigns/sending/loop.ts'
import { startSettling } from './campaigns/settle-stopped.ts'
import { deleteExpiredDeliveries } from './webhooks/deliveries/deliveries.ts'
import { REPLAY_KIND, replayEvents, SHOWN_REPLAY } from './webhooks/deliveries/replay-range.ts'
import { CLEAR_KIND, clearEndpoint } from './webhooks/endpoints/disable.ts'
import { toEndpointRecord } from './webhooks/endpoints/endpoint.ts'
import { webhookHandler } from './webhooks/follow-events.ts'
import { startWebhookSender } from './webhooks/sending/sender.ts'
import { deleteWorkflowRows, ERASE_KIND } from './workflows/definition/delete.ts'
import { toTransitionRecord, toWorkflowRecord } from './workflows/definition/view.ts'
import { type EngineDeps, startEngine } from './workflows/engine/engine.ts'
import { triggerHandler } from './workflows/engine/follow-events.ts'
import { BULK_START_KIND, runBulkStart, SHOWN_BULK_START } from './workflows/executions/bulk.ts'
import { startSettlingCancelled } from './workflows/executions/cancel-all.ts'
import { maskConfig } from './workflows/graph/secret-headers.ts'
import { type RequesterDeps, startRequester } from './workflows/requests/requester.ts'
import { startSchedules } from './workflows/schedule/loop.ts'
import { WORKFLOW_REFERENCES } from './workflows/workflow.ts'

type Parts = Base & CampaignsDeps & EngineDeps & RequesterDeps & Parameters<typeof startRefusals>[0]

/**
 * Deletes executions until the deleted rows, those of steps included, reach the limit, but at least
 * one execution. So a batch of long executions takes no longer than another batch.
 */
const eraseExecutions = () => sql`delete from workflow_executions where number in (
  select number from (
    select number, sum(steps_done + 2) over (order by number) - steps_done - 2 as "rowsBefore"
    from (select number, steps_done from workflow_executions
      where workflow_id in ${ownOf('workflows')} limit ${LIMIT}))
  where "rowsBefore" < ${LIMIT})`

const ofWorkflows = (table: string) => () =>
  sql`${sql.raw(table)} where workflow_id in ${ownOf('workflows')}`

export const outreach: Area<Parts> = {
  name: 'outreach',
  loops: [
    startSettling,
    startCampaigns,
    startRefusals,
    startSettlingCancelled,
    startSchedules,
    startEngine,
    startRequests,
  ],
  urgentHandlers: [triggerHandler, webhookHandler],
  lazyHandlers: [figuresHandler],
  jobs: [
    {
      name: 'count-recipients',
      schedule: '* * * * *',
      atOnce: 1,
      run: (parts, { signal }) => countUncounted(parts, signal),
    },
    {
      name: 'delete-expired-deliveries',
      schedule: '10 4 * * *',
      run: (parts, { signal }) => deleteExpiredDeliveries(parts, signal),
    },
    // These jobs start executions or call other servers.
    {
      name: BULK_START_KIND,
      atOnce: 3,
      fence: 'waits',
      run: runBulkStart,
      shown: SHOWN_BULK_START,
    },
    { name: REPLAY_KIND, atOnce: 2, fence: 'waits', run: replayEvents, shown: SHOWN_REPLAY },
    // These jobs change rows of this server only, and make no events.
    { name: ERASE_KIND, atOnce: 2, fence: 'runs', run: deleteWorkflowRows },
    { name: CLEAR_KIND, atOnce: 2, fence: 'runs', run: clearEndpoint },
  ],
  retentions: [],
  tables: [
    { table: campaigns, erasure: erasedByReset(campaigns), export: exported(campaigns) },
    {
      table: campaignProgress,
      erasure: { when: 'owner' },
      export: 'the place in its audience of a campaign that is being sent',
    },
    {
      table: campaignLinks,
      erasure: erasedByReset(campaignLinks, {
        key: () => sql`campaign_id, url`,
        from: () => sql`campaign_links where campaign_id in ${ownOf('campaigns')}`,
      }),
      export: exported(campaignLinks, { condition: ownedBy('campaign_id', 'campaigns') }),
    },
    {
      table: chainStarts,
      erasure: erasedByReset(chainStarts, { key: () => sql`project_id` }),
      export: 'a count of the last minute for a limit',
    },
    {
      table: workflows,
      erasure: erasedByReset(workflows),
      export: exported(workflows, { view: (row: Workflow) => toWorkflowRecord(row) }),
    },
    {
      table: workflowTransitions,
      erasure: { when: 'owner' },
      export: exported(workflowTransitions, {
        condition: ownedBy('workflow_id', 'workflows'),
        view: (row: WorkflowTransition) => toTransitionRecord(row),
      }),
    },
    {
      table: workflowSteps,
      erasure: erasedByReset(workflowSteps, { from: ofWorkflows('workflow_steps') }),
      export: exported(workflowSteps, {
        view: ({ config }: WorkflowStep) => ({ config: maskConfig(config) }),
      }),
    },
    {
      table: workflowFigures,
      erasure: erasedByReset(workflowFigures, {
        key: () => sql`workflow_id, subject, figure`,
        from: ofWorkflows('workflow_figures'),
      }),
      export: exported(workflowFigures, { condition: ownedBy('workflow_id', 'workflows') }),
    },
    { table: workflowRequests, erasure: { when: 'owner' }, export: 'requests under way' },
    { table: workflowWaits },
    {
      table: workflowStepExecutions,
      erasure: { when: 'owner' },
      export: exported(workflowStepExecutions, {
        condition: ownedBy('execution_number', 'workflow_executions', 'number'),
      }),
    },
    {
      table: workflowExecutions,
      erasure: erasedByReset(workflowExecutions, {
        from: ofWorkflows('workflow_executions'),
        erase: eraseExecutions,
      }),
      export: exported(workflowExecutions),
    },
    {
      table: webhookSigningSecrets,
      erasure: erasedByDeletion(webhookSigningSecrets),
      export: 'secrets',
      sealed: {
        key: webhookSigningSecrets.projectId,
        columns: {
          secret: webhookSigningSecrets.secret,
          previousSecret: webhookSigningSecrets.previousSecret,
        },
      },
    },
    {
      table: webhookEndpoints,
      erasure: erasedByReset(webhookEndpoints),
      export: exported(webhookEndpoints, { view: (row: WebhookEndpoint) => toEndpointRecord(row) }),
      sealed: {
        key: webhookEndpoints.id,
        columns: {
          secret: webhookEndpoints.secret,
          previousSecret: webhookEndpoints.previousSecret,
        },
      },
    },
    {
      table: webhookDeliveries,
      erasure: erasedByReset(webhookDeliveries, {
        from: () => sql`webhook_deliveries where endpoint_id in ${ownOf('webhook_endpoints')}`,
      }),
      export: exported(webhookDeliveries, {
        condition: ownedBy('endpoint_id', 'webhook_endpoints'),
      }),
    },
  ],
  references: [...CAMPAIGN_REFERENCES, ...WORKFLOW_REFERENCES],
}

/**
 * Starts the requests of webhooks and those of WEBHOOK steps. Both wait for answers, so they stop
 * at the same time.
 */
function startRequests(parts: Parts): AreaLoop {
  const senders = [startWebhookSender(parts), startRequester(parts)]
  return { stop: (graceMs) => Promise.all(senders.map((sender) => sender.stop(graceMs))) }
}
