/** Executions of workflows in the API: the record, its steps, its pages, and the query that lists executions. */
import { z } from 'zod'
import { instant } from './fields.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_NUMBER, MAX_PAGE_SIZE } from './limits.ts'
import { countParameter, numberedPage } from './page.ts'
import { reasonOrNone } from './reason.ts'
import { EXECUTION_STATUSES, STEP_TYPES } from './words.ts'

const jsonObject = z.record(z.string(), z.unknown())

/** A step of a workflow, as its executions refer to it. */
const stepReference = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z.enum(STEP_TYPES),
  })
  .nullable()

const executionStatus = z.enum(EXECUTION_STATUSES)

const fields = {
  id: z.string(),
  workflowId: z.string(),
  contactId: z.string(),
  status: executionStatus,
  currentStepId: z.string().nullable().meta({ description: 'Of a FAILED one, the failed step' }),
  exitReason: z.string().nullable(),
  ...reasonOrNone,
  context: jsonObject.nullable(),
  sourceEventId: z.string().nullable().meta({ description: 'The event that started it' }),
  startedAt: instant,
  completedAt: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
  contact: z.object({ id: z.string(), email: z.string() }),
  currentStep: stepReference,
  depth: z.int().meta({
    description:
      'Executions that led to it, one after the other; 0 unless an event of an execution started it',
  }),
  heldReason: z.enum(['restored', 'chain']).nullable().meta({
    description:
      'Why it does not go on: the database was brought back from a copy, or the start waits because chains begin 1,000 executions of a project in a minute',
  }),
}

export const executionRecord = z.object(fields).meta({ id: 'WorkflowExecution' })

export type ExecutionRecord = z.output<typeof executionRecord>

export const executionPage = numberedPage(executionRecord, 'executions').meta({
  id: 'WorkflowExecutionPage',
})

const stepExecutionRecord = z
  .object({
    id: z.string(),
    executionId: z.string(),
    stepId: z.string(),
    status: z.enum([
      'PENDING',
      'SCHEDULED',
      'WAITING',
      'RUNNING',
      'COMPLETED',
      'SKIPPED',
      'FAILED',
    ]),
    scheduledFor: instant.nullable().meta({ description: 'The end of a DELAY' }),
    executeAfter: instant.nullable().meta({ description: 'The timeout of a WAIT_FOR_EVENT' }),
    input: jsonObject.nullable(),
    output: jsonObject.nullable(),
    error: z.string().nullable(),
    ...reasonOrNone,
    startedAt: instant,
    completedAt: instant.nullable(),
    createdAt: instant,
    updatedAt: instant,
    step: stepReference,
  })
  .meta({ id: 'WorkflowStepExecution' })

export type StepExecutionRecord = z.output<typeof stepExecutionRecord>

export const executionDetail = z
  .object({
    ...fields,
    workflow: z.object({ id: z.string(), name: z.string() }),
    stepExecutions: z.array(stepExecutionRecord),
  })
  .meta({ id: 'WorkflowExecutionDetail' })

export const executionQuery = z.object({
  page: countParameter({ fallback: 1, cap: MAX_PAGE_NUMBER }),
  pageSize: countParameter({ fallback: DEFAULT_PAGE_SIZE, cap: MAX_PAGE_SIZE }),
  status: executionStatus.optional(),
})
