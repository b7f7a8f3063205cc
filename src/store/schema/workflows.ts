/**
 * Workflows: the graph that people edit, and the executions of contacts that walk through it.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { type InferSelectModel, integer, primaryKey, sqliteTable, text } from '../drizzle.ts'
import { bool, jsonColumn } from './columns.ts'
import type {
  ExecutionStatus,
  StepExecutionStatus,
  StepType,
  TriggerType,
  WaitOutcome,
} from './words.ts'

export const workflows = sqliteTable('workflows', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  name: text('name').notNull(),
  description: text('description'),
  isEnabled: bool('enabled').notNull().default(false),
  triggerType: text('trigger_type').$type<TriggerType>().notNull().default('EVENT'),
  triggerConfig: jsonColumn('trigger_config').$type<Record<string, unknown>>(),
  /** The stored name of the event that starts executions; null unless the trigger is EVENT. */
  triggerEvent: text('trigger_event'),
  /** The segment of a SCHEDULE. */
  segmentId: text('segment_id'),
  allowsReentry: bool('allow_reentry').notNull().default(false),
  /** Events up to this one start nothing: the newest when the workflow was enabled. */
  enabledSeq: integer('enabled_seq').notNull().default(0),
  /** The next firing of a SCHEDULE; null while the workflow is disabled. */
  nextFireAt: integer('next_fire_at'),
  /** Active executions up to this number count as cancelled since `cancelledAt`; 0 if none do. */
  cancelledThrough: integer('cancelled_through').notNull().default(0),
  cancelReason: text('cancel_reason'),
  cancelledAt: integer('cancelled_at'),
  /** Whether rows of executions up to `cancelledThrough` may still be active. */
  isCancelling: bool('is_cancelling').notNull().default(false),
  /** When the last start got a row that says that its chain is too deep. */
  chainCutAt: integer('chain_cut_at'),
  version: integer('version').notNull().default(1),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  /** From this time on nothing shows the workflow, and a job deletes its rows. */
  deletedAt: integer('deleted_at'),
})

export const workflowSteps = sqliteTable('workflow_steps', {
  id: text('id').primaryKey(),
  workflowId: text('workflow_id').notNull(),
  projectId: text('project_id').notNull(),
  type: text('type').$type<StepType>().notNull(),
  name: text('name').notNull(),
  position: jsonColumn('position').$type<{ x: number; y: number }>().notNull(),
  /** As `features/outreach/workflows/graph/step-config.ts` describes it for each type. */
  config: jsonColumn('config').$type<Record<string, unknown>>().notNull(),
  templateId: text('template_id'),
  /** A removed step stays for the history of executions, hidden. */
  removedAt: integer('removed_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const workflowTransitions = sqliteTable('workflow_transitions', {
  id: text('id').primaryKey(),
  workflowId: text('workflow_id').notNull(),
  fromStepId: text('from_step_id').notNull(),
  toStepId: text('to_step_id').notNull(),
  condition: jsonColumn('condition').$type<{ branch: string }>(),
  waitOutcome: text('wait_outcome').$type<WaitOutcome>(),
  priority: integer('priority').notNull().default(0),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const workflowExecutions = sqliteTable('workflow_executions', {
  /** The order of starts; not part of the API. */
  number: integer('number').primaryKey({ autoIncrement: true }),
  id: text('id').notNull(),
  projectId: text('project_id').notNull(),
  workflowId: text('workflow_id').notNull(),
  contactId: text('contact_id').notNull(),
  status: text('status').$type<ExecutionStatus>().notNull(),
  currentStepId: text('current_step_id'),
  exitReason: text('exit_reason'),
  context: jsonColumn('context').$type<Record<string, unknown>>(),
  sourceEventId: text('source_event_id'),
  sourceEventSeq: integer('source_event_seq'),
  /**
   * When the engine goes on; null at the end, and while only an event or a webhook ends the wait.
   */
  dueAt: integer('due_at'),
  /** The number of step rows before the current step's. */
  stepsDone: integer('steps_done').notNull().default(0),
  startedAt: integer('started_at').notNull(),
  completedAt: integer('completed_at'),
  updatedAt: integer('updated_at').notNull(),
  /**
   * How many executions led to this one, one after the other: 0 unless an event of an execution
   * started it.
   */
  depth: integer('depth').notNull().default(0),
})

export const workflowStepExecutions = sqliteTable(
  'workflow_step_executions',
  {
    executionNumber: integer('execution_number').notNull(),
    ordinal: integer('ordinal').notNull(),
    id: text('id').notNull(),
    stepId: text('step_id').notNull(),
    status: text('status').$type<StepExecutionStatus>().notNull(),
    /** The end of a DELAY. */
    scheduledFor: integer('scheduled_for'),
    /** The timeout of a WAIT_FOR_EVENT. */
    executeAfter: integer('execute_after'),
    input: jsonColumn('input').$type<Record<string, unknown>>(),
    output: jsonColumn('output').$type<Record<string, unknown>>(),
    error: text('error'),
    startedAt: integer('started_at').notNull(),
    completedAt: integer('completed_at'),
  },
  (table) => [primaryKey({ columns: [table.executionNumber, table.ordinal] })],
)

export const workflowWaits = sqliteTable('workflow_waits', {
  executionNumber: integer('execution_number').primaryKey(),
  workflowId: text('workflow_id').notNull(),
  contactId: text('contact_id').notNull(),
  /** The stored name of the event. */
  eventName: text('event_name').notNull(),
  /** Only events of this email count; '' if no email was sent yet; null if every event counts. */
  emailId: text('email_id'),
  /** The newest event when the wait began. */
  afterSeq: integer('after_seq').notNull(),
  /** The event that ends the wait. */
  eventSeq: integer('event_seq'),
  /** Whether received mail that a machine sent ends the wait, too. */
  includesAutomatic: bool('includes_automatic').notNull().default(false),
})

export const workflowRequests = sqliteTable('workflow_requests', {
  executionNumber: integer('execution_number').primaryKey(),
  workflowId: text('workflow_id').notNull(),
  projectId: text('project_id').notNull(),
  stepId: text('step_id').notNull(),
  stepExecutionId: text('step_execution_id').notNull(),
  ordinal: integer('ordinal').notNull(),
  dueAt: integer('due_at').notNull(),
  attempts: integer('attempts').notNull().default(0),
  /** Rendered before the first attempt. */
  request: jsonColumn('request').$type<Record<string, unknown>>(),
})

export const workflowFigures = sqliteTable(
  'workflow_figures',
  {
    workflowId: text('workflow_id').notNull(),
    /** A step, a transition, or '' for the workflow. */
    subject: text('subject').notNull(),
    figure: text('figure').notNull(),
    count: integer('count').notNull(),
  },
  (table) => [primaryKey({ columns: [table.workflowId, table.subject, table.figure] })],
)

/** How many executions of chains began in a project in a minute. */
export const chainStarts = sqliteTable('chain_starts', {
  projectId: text('project_id').primaryKey(),
  minuteAt: integer('minute_at').notNull(),
  begun: integer('begun').notNull(),
})

export type Workflow = InferSelectModel<typeof workflows>

export type WorkflowStep = InferSelectModel<typeof workflowSteps>

export type WorkflowTransition = InferSelectModel<typeof workflowTransitions>

export type WorkflowExecution = InferSelectModel<typeof workflowExecutions>

export type WorkflowStepExecution = InferSelectModel<typeof workflowStepExecutions>
