/**
 * The facts about tables that the migrations do not state. `npm run schema` reads this file; the program
 * does not. A key is `table.column`, or `column` for this column in every table.
 *
 * Without an annotation, a property is the column's name in camelCase; an integer whose name begins with
 * `is_`, `has_` or `are_`, or has `CHECK (… IN (0, 1))`, is a boolean; a text with `CHECK (… IN ('a',
 * 'b'))` has the type of these words.
 */

/** The modules in this folder, each with its tables and views in their order. */
export const MODULES: Record<string, { doc: string; tables: string[] }> = {
  accounts: {
    doc: 'Users with their sessions and tokens, projects, and the memberships of users in projects.',
    tables: [
      'users',
      'recovery_codes',
      'identities',
      'sessions',
      'account_tokens',
      'setup_links',
      'projects',
      'memberships',
      'invitations',
    ],
  },
  analytics: {
    doc: 'Counts of emails and events by time, and the view that followers of events count from.',
    tables: [
      'analytics_subjects',
      'mail_counts',
      'link_counts',
      'event_counts',
      'counted_events',
      'deleted_events',
    ],
  },
  backups: {
    doc: 'The attempts at backups that have ended.',
    tables: ['backups'],
  },
  billing: {
    doc: 'The use of a project by the month, the notices about it, and what Stripe was told.',
    tables: ['usage_months', 'owner_months', 'usage_notices', 'metering_batches', 'stripe_events'],
  },
  campaigns: {
    doc: 'Campaigns: the definition that people edit, and the progress that the server writes.',
    tables: ['campaigns', 'campaign_progress', 'campaign_links'],
  },
  contacts: {
    doc: 'Contacts, the fields of their data, and the contacts that the search index does not cover yet.',
    tables: ['contacts', 'contact_fields', 'contact_search_backlog'],
  },
  domains: {
    doc: 'Sending domains with their keys and the state of their DNS records.',
    tables: ['domains'],
  },
  events: {
    doc: 'Events, and how far each follower has read them.',
    tables: ['events', 'event_followers'],
  },
  fences: {
    doc: 'The generations of the database, and the projects whose fence stands.',
    tables: ['generations', 'fences'],
  },
  inbound: {
    doc: 'Received messages, and figures about them.',
    tables: [
      'inbound_messages',
      'inbound_reading',
      'inbound_usage',
      'received_recently',
      'sns_notifications',
    ],
  },
  jobs: {
    doc: 'Background jobs, their progress, and the files that they import.',
    tables: ['jobs', 'job_progress', 'import_chunks'],
  },
  messages: {
    doc: 'Templates, contents, emails, and the attempts to deliver them.',
    tables: ['templates', 'contents', 'chunks', 'emails', 'attempts', 'holds'],
  },
  reputation: {
    doc: "Counts of a project's mail, from which its reputation is judged.",
    tables: ['reputation_hours', 'reputation_totals', 'new_project_hours'],
  },
  segments: {
    doc: 'Segments and their members.',
    tables: ['segments', 'segment_members', 'caused_changes'],
  },
  service: {
    doc: 'Requests to the API, questions to the running server, and the mail that sandbox mode stores.',
    tables: ['server_questions', 'idempotency_keys', 'api_requests', 'sandbox_messages'],
  },
  suppressions: {
    doc: 'Suppressed addresses, suppressions that wait, and the evidence for them.',
    tables: ['suppressions', 'held_suppressions', 'known_domains', 'strikes'],
  },
  uploads: {
    doc: 'Images that projects uploaded.',
    tables: ['uploads'],
  },
  webhooks: {
    doc: 'Outgoing webhooks: endpoints of projects, events on their way to them, and the secrets that sign.',
    tables: ['webhook_endpoints', 'webhook_deliveries', 'webhook_signing_secrets'],
  },
  wishes: {
    doc: 'What people decided about mail, by the digests of their addresses.',
    tables: ['instance_keys', 'wishes', 'erased_recipients', 'unkeyed_wishes'],
  },
  workflows: {
    doc: 'Workflows: the graph that people edit, and the executions of contacts that walk through it.',
    tables: [
      'workflows',
      'workflow_steps',
      'workflow_transitions',
      'workflow_executions',
      'workflow_step_executions',
      'workflow_waits',
      'workflow_requests',
      'workflow_figures',
      'chain_starts',
    ],
  },
}

/** Names of properties that are not the camelCase of their columns. */
export const NAMES: Record<string, string> = {
  email: 'address',
  enabled: 'isEnabled',
  'idempotency_keys.answer': 'responseData',
  'segments.track_membership': 'hasMembershipEvents',
  'workflows.allow_reentry': 'allowsReentry',
}

/** Integers that are booleans, and texts of fixed words: types of `words.ts`, or any that TypeScript knows. */
export const TYPES: Record<string, string> = {
  enabled: 'boolean',
  role: 'Role',
  source_type: 'SourceType',
  'projects.submission_templates': 'boolean',
  'projects.public_key_may_update': 'boolean',
  'contacts.subscribed': 'boolean',
  'emails.ignores_complaint': 'boolean',
  'segments.track_membership': 'boolean',
  'workflows.allow_reentry': 'boolean',
  'workflow_waits.includes_automatic': 'boolean',
  'users.method': 'AccountMethod',
  'account_tokens.purpose': 'TokenPurpose',
  'projects.disabled_reason': 'DisabledReason',
  'projects.tracking': 'TrackingMode',
  'projects.on_template_fault': 'OnTemplateFault',
  'analytics_subjects.kind': "Exclude<AnalyticsKind, 'all'> | 'url' | 'event'",
  'mail_counts.kind': 'AnalyticsKind',
  'mail_counts.stream': 'AnalyticsStream',
  'link_counts.stream': 'AnalyticsStream',
  'event_counts.stream': "AnalyticsStream | ''",
  'usage_notices.category': "UsageCategory | 'shared'",
  'metering_batches.state': 'MeteringState',
  'campaigns.type': 'ContentClass',
  'campaigns.audience_type': 'AudienceType',
  'campaigns.status': 'CampaignStatus',
  'campaigns.pause_reason': 'PauseReason',
  'contact_fields.kind': 'ValueKind',
  'domains.status': 'DomainStatus',
  'generations.cause': 'FenceCause',
  'inbound_messages.state': 'InboundState',
  'inbound_messages.kind': 'InboundKind',
  'inbound_messages.pending_kind': 'PendingKind',
  'jobs.state': 'JobState',
  'templates.type': 'ContentClass',
  'emails.content_class': 'ContentClass',
  'emails.state': 'QueueState',
  'emails.status': 'EmailStatus',
  'emails.queue_class': 'QueueClass',
  'attempts.steps': 'StoredStep[]',
  'segments.type': 'SegmentType',
  'api_requests.caller': "'secret' | 'public' | 'session'",
  'api_requests.auth_type': "'apiKey' | 'jwt'",
  'suppressions.reason': 'SuppressionReason',
  'suppressions.later_reason': 'SuppressionReason',
  'held_suppressions.reason': 'SuppressionReason',
  'held_suppressions.cause': 'HeldCause',
  'webhook_deliveries.status': 'WebhookStatus',
  'wishes.kind': 'WishKind',
  'unkeyed_wishes.kind': 'WishKind',
  'workflows.trigger_type': 'TriggerType',
  'workflow_steps.type': 'StepType',
  'workflow_transitions.wait_outcome': 'WaitOutcome',
  'workflow_executions.status': 'ExecutionStatus',
  'workflow_step_executions.status': 'StepExecutionStatus',
}

/** Texts that are JSON, with the types of their values: of `json-values.ts`, or any that TypeScript knows. */
export const JSON_TYPES: Record<string, string> = {
  'metering_batches.email_ids': 'string[]',
  'campaigns.audience_condition': 'unknown',
  'campaigns.pause_details': 'Record<string, unknown>',
  'campaign_progress.brake_base': 'Record<string, number>',
  'contacts.data': 'ContactData',
  'domains.findings': 'RecordFinding[]',
  'events.data': 'Record<string, unknown>',
  'inbound_messages.recipients': 'InboundRecipient[]',
  'inbound_messages.summary': 'Record<string, unknown>',
  'jobs.payload': 'unknown',
  'jobs.result': 'unknown',
  'job_progress.state': 'unknown',
  'contents.attachments': 'StoredAttachment[]',
  'contents.links': 'string[]',
  'contents.warnings': 'string[]',
  'contents.recipient_fields': '{ to: string | null; cc: string | null }',
  'emails.headers': 'Record<string, string>',
  'emails.variables': 'Snapshot',
  'emails.template_faults': 'StoredFault[]',
  'segments.condition': 'unknown',
  'segments.filter_change': 'FilterChange',
  'server_questions.question': 'unknown',
  'server_questions.answer': 'unknown',
  'idempotency_keys.answer': 'Record<string, unknown>',
  'webhook_endpoints.events': 'string[]',
  'workflows.trigger_config': 'Record<string, unknown>',
  'workflow_steps.position': '{ x: number; y: number }',
  'workflow_steps.config': 'Record<string, unknown>',
  'workflow_transitions.condition': '{ branch: string }',
  'workflow_executions.context': 'Record<string, unknown>',
  'workflow_step_executions.input': 'Record<string, unknown>',
  'workflow_step_executions.output': 'Record<string, unknown>',
  'workflow_requests.request': 'Record<string, unknown>',
}

/** The names of the types of rows. */
export const ROWS: Record<string, string> = {
  users: 'User',
  sessions: 'LoginSession',
  projects: 'Project',
  invitations: 'Invitation',
  analytics_subjects: 'AnalyticsSubject',
  deleted_events: 'CountedEvent',
  backups: 'BackupRow',
  metering_batches: 'MeteringBatch',
  campaigns: 'Campaign',
  campaign_progress: 'CampaignProgress',
  contacts: 'Contact',
  domains: 'Domain',
  events: 'EventRow',
  generations: 'Generation',
  fences: 'Fence',
  inbound_messages: 'InboundMessage',
  jobs: 'Job',
  templates: 'Template',
  contents: 'Content',
  emails: 'Email',
  attempts: 'Attempt',
  holds: 'Hold',
  segments: 'Segment',
  suppressions: 'Suppression',
  uploads: 'Upload',
  webhook_endpoints: 'WebhookEndpoint',
  webhook_deliveries: 'WebhookDelivery',
  workflows: 'Workflow',
  workflow_steps: 'WorkflowStep',
  workflow_transitions: 'WorkflowTransition',
  workflow_executions: 'WorkflowExecution',
  workflow_step_executions: 'WorkflowStepExecution',
}

/** Columns that the type of a row lacks: only queries need them. */
export const OMITTED: Record<string, string> = {
  contacts: 'number',
  deleted_events: 'host',
}

/** Views, each with the table that has its columns, and those that queries do not read from it. */
export const VIEWS: Record<string, { like: string; without: string[] }> = {
  counted_events: { like: 'deleted_events', without: ['host'] },
}

/**
 * Columns that do not stand where the database has them: by table, those that follow a column. Exports
 * and answers have the keys of a row in this order. A new column stands last.
 */
export const FOLLOWING: Record<string, Record<string, string[]>> = {
  users: { verified_at: ['only_project_id'], totp_step: ['created_at', 'updated_at'] },
  projects: {
    disabled_reason: [
      'disabled_at',
      'reset_since',
      'deleted_at',
      'last_reset_since',
      'last_reset_at',
      'counted_after',
    ],
    language: [
      'postal_address',
      'submission_templates',
      'on_template_fault',
      'public_key_may_update',
    ],
    limit_inbound: ['created_at', 'updated_at'],
  },
  campaign_progress: { paced_at: ['has_old_slots'] },
  domains: { failing_since: ['loss_told_at'] },
  inbound_messages: { raw: ['raw_chunks'], pending_kind: ['line'] },
  contents: {
    is_text: ['text'],
    attachments: ['chunk_bytes'],
    links: ['is_literal', 'warnings', 'recipient_fields'],
  },
  emails: { ignores_complaint: ['figures'] },
  segments: { counted_at: ['filter_rules', 'filter_change'] },
  idempotency_keys: { status_code: ['answer'] },
  api_requests: { user_id: ['caller'] },
  workflows: { is_cancelling: ['chain_cut_at'] },
}
