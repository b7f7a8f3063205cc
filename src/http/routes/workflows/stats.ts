/** The figures of a workflow. */

import { z } from 'zod'
import { viewWorkflowStats } from '../../../features/workflows/executions/stats.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { uuidKeyOf } from '../../shapes/uuid-key.ts'

const stats = z
  .object({
    steps: z.array(
      z.object({
        stepId: z.string(),
        name: z.string(),
        type: z.string(),
        waiting: z.int().meta({ description: 'Executions that are at the step now' }),
        completed: z.int(),
        failed: z.int(),
        skipped: z.int().meta({ description: 'Cancelled while they waited at the step' }),
        medianMs: z.int().nullable().meta({
          description: 'The median time from the beginning of the step to its completion, to 10%',
        }),
      }),
    ),
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

export const show = ({ core }: RouteDeps) =>
  projectOperation({
    tag: 'Workflows',
    summary: 'Show the figures of a workflow',
    answerBytes: RECORD_ANSWER_BYTES,
    description: 'The figures of steps and transitions do not shrink when contacts are deleted.',
    params: { id: 'The id of the workflow' },
    responses: { 200: { description: 'The figures', schema: stats } },
    refusals: [404],
    handle: async (call) => largeJson(200, await viewWorkflowStats(core, uuidKeyOf(call))),
  })
