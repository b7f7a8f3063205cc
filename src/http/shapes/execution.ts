/** Executions of workflows as responses show them. */
import { z } from 'zod'
import { EXECUTION_STATUSES } from '../../features/outreach/workflows/executions/list.ts'
import { instant } from '../../records/fields.ts'
import { numberedPage } from '../../records/page.ts'

const jsonObject = z.record(z.string(), z.unknown())

/** A step, as executions name it. */
const stepReference = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z.enum([
      'TRIGGER',
      'SEND_EMAIL',
      'DELAY',
      'WAIT_FOR_EVENT',
      'CONDITION',
      'EXIT',
      'WEBHOOK',
      'UPDATE_CONTACT',
    ]),
  })
  .nullable()

export const executionStatus = z.enum(EXECUTION_STATUSES)

const fields = {
  id: z.string(),
  workflowId: z.string(),
  contactId: z.string(),
  status: executionStatus,
  currentStepId: z.string().nullable().meta({ description: 'Of a FAILED one, the failed step' }),
  exitReason: z.string().nullable(),
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

export const executionPage = numberedPage(executionRecord, 'executions').meta({
  id: 'WorkflowExecutionPage',
})

const stepExecution = z
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
    startedAt: instant,
    completedAt: instant.nullable(),
    createdAt: instant,
    updatedAt: instant,
    step: stepReference,
  })
  .meta({ id: 'WorkflowStepExecution' })

export const executionDetail = z
  .object({
    ...fields,
    workflow: z.object({ id: z.string(), name: z.string() }),
    stepExecutions: z.array(stepExecution),
  })
  .meta({ id: 'WorkflowExecutionDetail' })
