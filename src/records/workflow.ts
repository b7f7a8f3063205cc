/** Workflows in the API: the record, its steps and transitions, its pages, and the query that lists workflows. */
import { z } from 'zod'
import { instant } from './fields.ts'
import { MAX_SEARCH_LENGTH } from './limits.ts'
import { choiceParameter, pagingParameters, refuseMixedPaging, sortedPage } from './page.ts'
import { STEP_TYPES, TRIGGER_TYPES, WAIT_OUTCOMES } from './words.ts'

const workflowRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    enabled: z.boolean(),
    triggerType: z.enum(TRIGGER_TYPES),
    triggerConfig: z.record(z.string(), z.unknown()).nullable(),
    allowReentry: z.boolean(),
    version: z.int(),
    nextFireAt: instant.nullable().meta({ description: 'Of a SCHEDULE that is enabled' }),
    projectId: z.string(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Workflow' })

export type WorkflowRecord = z.output<typeof workflowRecord>

export const transitionRecord = z
  .object({
    id: z.string(),
    fromStepId: z.string(),
    toStepId: z.string(),
    condition: z
      .object({ branch: z.string() })
      .nullable()
      .meta({ description: 'The branch of a CONDITION' }),
    waitOutcome: z.enum(WAIT_OUTCOMES).nullable(),
    priority: z.int(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'WorkflowTransition' })

export type TransitionRecord = z.output<typeof transitionRecord>

export const stepRecord = z
  .object({
    id: z.string(),
    workflowId: z.string(),
    type: z.enum(STEP_TYPES),
    name: z.string(),
    position: z.object({ x: z.number(), y: z.number() }),
    config: z.record(z.string(), z.unknown()),
    templateId: z.string().nullable(),
    template: z.object({ id: z.string(), name: z.string() }).nullable(),
    outgoingTransitions: z.array(transitionRecord),
    incomingTransitions: z.array(transitionRecord),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'WorkflowStep' })

export type StepRecord = z.output<typeof stepRecord>

export const workflowDetail = workflowRecord
  .extend({ steps: z.array(stepRecord).meta({ description: 'Oldest first' }) })
  .meta({ id: 'WorkflowDetail' })

export type WorkflowDetail = z.output<typeof workflowDetail>

export const listedWorkflow = workflowRecord
  .extend({ _count: z.object({ steps: z.int(), executions: z.int() }) })
  .meta({ id: 'ListedWorkflow' })

export type ListedWorkflow = z.output<typeof listedWorkflow>

export const workflowPage = sortedPage(listedWorkflow).meta({ id: 'WorkflowPage' })

export const workflowQuery = z
  .object({
    ...pagingParameters,
    search: z
      .string()
      .max(MAX_SEARCH_LENGTH)
      .optional()
      .meta({ description: 'Part of the name or the description' }),
    status: z.enum(['active', 'disabled']).optional(),
    sort: choiceParameter(['name', 'createdAt', 'updatedAt', 'steps'], 'createdAt'),
    dir: choiceParameter(['asc', 'desc'], 'desc'),
  })
  .superRefine(refuseMixedPaging)

/** The fields that a CONDITION step of a workflow can compare. */
export const workflowFields = z.object({
  fields: z.array(z.string()),
  typedFields: z.array(
    z.object({
      field: z.string(),
      type: z.enum(['string', 'number', 'boolean', 'date']),
      category: z.enum(['Contact Fields', 'Custom Data', 'Event Data']),
    }),
  ),
  count: z.int(),
})

export type WorkflowFields = z.output<typeof workflowFields>

export const workflowExample: WorkflowRecord = {
  id: '0199a7c0-0000-7000-8000-000000000071',
  name: 'Welcome',
  description: null,
  enabled: false,
  triggerType: 'EVENT',
  triggerConfig: { eventName: 'signed up' },
  allowReentry: false,
  version: 1,
  nextFireAt: null,
  projectId: '0199a7c0-0000-7000-8000-000000000001',
  createdAt: '2026-11-22T09:30:00.000Z',
  updatedAt: '2026-11-22T09:30:00.000Z',
}
