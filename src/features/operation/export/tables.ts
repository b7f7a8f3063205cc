/**
 * What an export of a project holds: a file for each of these tables. A record has the columns of its row,
 * and in their place the fields of the API where the API shows it. A table with rows of projects is in one
 * of the two lists; a test checks that.
 */
import type { Config } from '../../../config/config.ts'
import { eachOf, jsonValue } from '../../../store/dialect.ts'
import { type SQL, type SQLiteTable, sql } from '../../../store/drizzle.ts'
import { invitations, memberships, projects, users } from '../../../store/schema/accounts.ts'
import {
  analyticsSubjects,
  eventCounts,
  linkCounts,
  mailCounts,
} from '../../../store/schema/analytics.ts'
import { usageMonths } from '../../../store/schema/billing.ts'
import { campaignLinks, campaigns } from '../../../store/schema/campaigns.ts'
import { type Contact, contacts } from '../../../store/schema/contacts.ts'
import { type Domain, domains } from '../../../store/schema/domains.ts'
import { type EventRow, events } from '../../../store/schema/events.ts'
import { inboundMessages } from '../../../store/schema/inbound.ts'
import {
  attempts,
  contents,
  type Email,
  emails,
  type Template,
  templates,
} from '../../../store/schema/messages.ts'
import { reputationHours, reputationTotals } from '../../../store/schema/reputation.ts'
import { type Segment, segmentMembers, segments } from '../../../store/schema/segments.ts'
import { apiRequests } from '../../../store/schema/service.ts'
import {
  heldSuppressions,
  type Suppression,
  strikes,
  suppressions,
} from '../../../store/schema/suppressions.ts'
import { type Upload, uploads } from '../../../store/schema/uploads.ts'
import {
  type WebhookEndpoint,
  webhookDeliveries,
  webhookEndpoints,
} from '../../../store/schema/webhooks.ts'
import {
  type Workflow,
  type WorkflowStep,
  type WorkflowTransition,
  workflowExecutions,
  workflowFigures,
  workflowStepExecutions,
  workflowSteps,
  workflows,
  workflowTransitions,
} from '../../../store/schema/workflows.ts'
import type { Row } from '../../../store/snapshot/row-reader.ts'
import { toEventRecord } from '../../ground/events/view.ts'
import { toSummary } from '../../insight/emails/summary.ts'
import { toDomainRecord } from '../../mail/domains/view.ts'
import { toSuppressionRecord } from '../../mail/suppressions/view.ts'
import { toTemplateRecord } from '../../mail/templates/view.ts'
import { toEndpointRecord } from '../../outreach/webhooks/endpoints/view.ts'
import { toTransitionRecord, toWorkflowRecord } from '../../outreach/workflows/definition/view.ts'
import { maskConfig } from '../../outreach/workflows/graph/secret-headers.ts'
import { toContactRecord } from '../../people/contacts/read/view.ts'
import { toSegmentRecord } from '../../people/segments/view.ts'
import { toListedUploadRecord } from '../../tenancy/uploads/view.ts'

export type ExportedTable = {
  /** `contacts` for `contacts.ndjson`. */
  name: string
  table: SQLiteTable
  condition(projectId: string): SQL
  /** The fields of the API. */
  view?(row: Row, config: Config): object
  /** Whether a record has these fields only. */
  isWholeView?: boolean
}

const own = (projectId: string) => sql`project_id = ${projectId}`
const ownedBy =
  (column: string, owner: string, key = 'id') =>
  (projectId: string) =>
    sql`${sql.raw(column)} in (select ${sql.raw(key)} from ${sql.raw(owner)} where ${own(projectId)})`

export const EXPORTED: readonly ExportedTable[] = [
  { name: 'project', table: projects, condition: (id) => sql`id = ${id}` },
  { name: 'memberships', table: memberships, condition: own },
  {
    name: 'users',
    table: users,
    condition: ownedBy('id', 'memberships', 'user_id'),
    // Their accounts belong to the server.
    view: ({ id, address }) => ({ id, email: address }),
    isWholeView: true,
  },
  { name: 'invitations', table: invitations, condition: own },
  one('domains', domains, (row: Domain, config) => toDomainRecord(row, config)),
  one('contacts', contacts, (row: Contact) => toContactRecord(row)),
  one('segments', segments, (row: Segment) => toSegmentRecord(row)),
  { name: 'segment_members', table: segmentMembers, condition: ownedBy('segment_id', 'segments') },
  one('templates', templates, (row: Template) => toTemplateRecord(row)),
  one('campaigns', campaigns),
  { name: 'campaign_links', table: campaignLinks, condition: ownedBy('campaign_id', 'campaigns') },
  one('workflows', workflows, (row: Workflow) => toWorkflowRecord(row)),
  one('workflow_steps', workflowSteps, ({ config }: WorkflowStep) => ({
    config: maskConfig(config),
  })),
  {
    ...one('workflow_transitions', workflowTransitions, (row: WorkflowTransition) =>
      toTransitionRecord(row),
    ),
    condition: ownedBy('workflow_id', 'workflows'),
  },
  one('workflow_executions', workflowExecutions),
  {
    name: 'workflow_step_executions',
    table: workflowStepExecutions,
    condition: ownedBy('execution_number', 'workflow_executions', 'number'),
  },
  {
    name: 'workflow_figures',
    table: workflowFigures,
    condition: ownedBy('workflow_id', 'workflows'),
  },
  one('webhook_endpoints', webhookEndpoints, (row: WebhookEndpoint) => toEndpointRecord(row)),
  {
    name: 'webhook_deliveries',
    table: webhookDeliveries,
    condition: ownedBy('endpoint_id', 'webhook_endpoints'),
  },
  one('contents', contents),
  one('emails', emails, (row: Email) => toSummary(row, undefined)),
  { name: 'attempts', table: attempts, condition: ownedBy('email_id', 'emails') },
  one('events', events, (row: EventRow) => toEventRecord(row)),
  {
    name: 'received',
    table: inboundMessages,
    condition: (id) => sql`exists (select 1 from ${eachOf(sql`recipients`)}
      where ${jsonValue(sql`value`, 'projectId')} = ${id})`,
  },
  one('suppressions', suppressions, (row: Suppression) => toSuppressionRecord(row)),
  one('held_suppressions', heldSuppressions),
  one('strikes', strikes),
  one('uploads', uploads, (row: Upload, config) => toListedUploadRecord(config, row)),
  one('reputation_hours', reputationHours),
  one('reputation_totals', reputationTotals),
  one('usage_months', usageMonths),
  one('analytics_subjects', analyticsSubjects),
  one('mail_counts', mailCounts),
  one('link_counts', linkCounts),
  one('event_counts', eventCounts),
  one('api_requests', apiRequests),
]

/** Tables with rows of projects that are not exported, with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  campaign_progress: 'the place in its audience of a campaign that is being sent',
  chain_starts: 'a count of the last minute for a limit',
  contact_fields: 'counted from the contacts',
  deleted_events: 'waits for counting only',
  erased_recipients: 'digests of addresses, with a key of this server',
  fences: 'what is held after a restore of this server',
  idempotency_keys: 'answers of the last day to requests',
  import_chunks: 'files of imports that are not read yet',
  jobs: 'work of the server',
  metering_batches: 'the accounts of this server with Stripe',
  new_project_hours: 'counts for a limit of this server',
  received_recently: 'counts of the last hour for limits',
  unkeyed_wishes: 'wishes of before an upgrade, which the next start makes digests of',
  usage_notices: 'which notices were mailed',
  webhook_signing_secrets: 'secrets',
  wishes: 'digests of addresses, with a key of this server',
  workflow_requests: 'requests under way',
}

/** Secrets, digests of secrets, and numbers that mean nothing outside the database. */
export const HIDDEN_FIELDS: readonly string[] = [
  'digest',
  'ed25519PrivateKey',
  'passwordHash',
  'previousSecret',
  'raw',
  'rsaPrivateKey',
  'secret',
  'secretDigest',
  'sealedVariables',
  'secretHint',
  'shareKey',
  'shelf',
  'totpSecret',
  'totpStep',
]

function one<R>(
  name: string,
  table: SQLiteTable,
  view?: (row: R, config: Config) => object,
): ExportedTable {
  const base = { name, table, condition: own }
  // The rows are those of the table.
  return view === undefined ? base : { ...base, view: (row, config) => view(row as R, config) }
}
