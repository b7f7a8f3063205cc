/** Workflows as responses show them. */
import { z } from 'zod'
import { instant } from '../../records/fields.ts'
import { sortedPage } from '../../records/page.ts'
import { stepType, triggerType, waitOutcome } from './workflow-fields.ts'

export const workflowRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    enabled: z.boolean(),
    triggerType,
    triggerConfig: z.record(z.string(), z.unknown()).nullable(),
    allowReentry: z.boolean(),
    version: z.int(),
    nextFireAt: instant.nullable().meta({ description: 'Of a SCHEDULE that is enabled' }),
    projectId: z.string(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Workflow' })

export const transitionRecord = z
  .object({
    id: z.string(),
    fromStepId: z.string(),
    toStepId: z.string(),
    condition: z
      .object({ branch: z.string() })
      .nullable()
      .meta({ description: 'The branch of a CONDITION' }),
    waitOutcome: waitOutcome.nullable(),
    priority: z.int(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'WorkflowTransition' })

export const stepRecord = z
  .object({
    id: z.string(),
    workflowId: z.string(),
    type: stepType,
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

export const workflowDetail = workflowRecord
  .extend({ steps: z.array(stepRecord).meta({ description: 'Oldest first' }) })
  .meta({ id: 'WorkflowDetail' })

export const listedWorkflow = workflowRecord
  .extend({ _count: z.object({ steps: z.int(), executions: z.int() }) })
  .meta({ id: 'ListedWorkflow' })

export const workflowPage = sortedPage(listedWorkflow).meta({ id: 'WorkflowPage' })
