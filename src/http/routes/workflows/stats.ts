/** The figures of a workflow. */
import { viewWorkflowStats } from '../../../features/outreach/workflows/executions/stats.ts'
import { stepFigures, workflowStats } from '../../../records/workflow-stats.ts'
import { RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { jsonOrTable } from '../../exchange/table.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { uuidKeyOf } from '../../uuid-key.ts'
import * as examples from './execution-examples.ts'

export const show = ({ core }: RouteDeps) =>
  projectOperation({
    tag: 'Workflows',
    summary: 'Show the figures of a workflow',
    answerBytes: RECORD_ANSWER_BYTES,
    description:
      'The figures of steps and transitions do not shrink when contacts are deleted. As CSV, a row for ' +
      'each step.',
    params: { id: 'The id of the workflow' },
    responses: { 200: { description: 'The figures', schema: workflowStats, isTableToo: true } },
    refusals: [404],
    example: examples.showStats,
    handle: async (call) => {
      const key = uuidKeyOf(call)
      const figures = await viewWorkflowStats(core, key)
      return jsonOrTable(call.incoming.headers.accept, figures, () => ({
        name: `workflow-${key.id}`,
        columns: Object.keys(stepFigures.shape),
        rows: figures.steps,
      }))
    },
  })
