/** The figures of a workflow in the API. */
import { z } from 'zod'

export const stepFigures = z.object({
  stepId: z.string(),
  name: z.string(),
  type: z.string(),
  waiting: z.int().meta({ description: 'Executions that are at the step now' }),
  completed: z.int().meta({
    description:
      'Executions that completed the step; a SEND_EMAIL is completed also if its email is FAILED or SUPPRESSED',
  }),
  failed: z.int().meta({ description: 'Executions that the step failed' }),
  skipped: z.int().meta({
    description: 'Executions that skipped the step, or were cancelled while they waited at it',
  }),
  medianMs: z.int().nullable().meta({
    description: 'The median time from the beginning of the step to its completion, to 10%',
  }),
})

export const workflowStats = z
  .object({
    steps: z.array(stepFigures),
    transitions: z.array(
      z.object({
        transitionId: z.string(),
        fromStepId: z.string(),
        toStepId: z.string(),
        taken: z.int(),
      }),
    ),
    executions: z.object({
      total: z.int(),
      running: z.int(),
      waiting: z.int(),
      completed: z.int(),
      exited: z.int(),
      failed: z.int(),
      cancelled: z.int(),
      heldBack: z.int().meta({ description: 'Starts that the rules of re-entry refused' }),
      tooManyStarts: z.int().meta({ description: 'Starts over the limit, except one an hour' }),
      automatic: z.int().meta({
        description: 'Received mail that a machine seems to have sent, which started nothing',
      }),
      chainTooDeep: z.int().meta({
        description: 'Starts with more than 5 executions before them, except one an hour',
      }),
      chainDelayed: z.int().meta({
        description: 'Starts by events of executions that waited for a place in a minute',
      }),
    }),
  })
  .meta({ id: 'WorkflowStats' })

export type WorkflowStats = z.output<typeof workflowStats>
