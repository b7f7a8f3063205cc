/** The graph of a workflow as a whole. */

import { z } from 'zod'
import { replaceGraph } from '../../../features/workflows/definition/replace-graph.ts'
import { validateWorkflow } from '../../../features/workflows/definition/validate.ts'
import { MAX_CONFIGS_BYTES } from '../../../features/workflows/limits.ts'
import { readIfMatch } from '../../exchange/if-match.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { uuidKeyOf, viewedKeyOf } from '../../shapes/uuid-key.ts'
import { workflowDetail } from '../../shapes/workflow.ts'
import { graph, MAX_GRAPH_BYTES } from '../../shapes/workflow-fields.ts'

const shared = { tag: 'Workflows' } as const

const findings = z.object({
  findings: z.array(
    z.object({
      code: z.string(),
      severity: z.enum(['error', 'warning', 'info']),
      message: z.string(),
      fix: z.string(),
      stepId: z.string().optional(),
    }),
  ),
})

export const replace = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Replace all steps and transitions',
    answerBytes: 2 * MAX_CONFIGS_BYTES,
    description:
      'In one transaction. The ids are UUIDs of your choice; steps and transitions that are missing ' +
      'are removed. A header of a WEBHOOK whose value is `***` stays as that of the same step. Refused ' +
      'with 409 where single edits would be. `If-Match` as for a change of the ' +
      'workflow.',
    body: graph,
    maxBodyBytes: MAX_GRAPH_BYTES,
    responses: { 200: { description: 'The workflow after the change', schema: workflowDetail } },
    refusals: [404, 409, 412],
    handle: async (call) => {
      const isExpected = readIfMatch(call.incoming)
      const edit = { ...viewedKeyOf(call), isExpected, graph: call.body }
      const workflow = await replaceGraph(core, edit)
      const { headers, ...response } = largeJson(200, workflow)
      return { ...response, headers: { ...headers, etag: `"${workflow.version}"` } }
    },
  })

export const check = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    growsDisk: false,
    summary: 'Check a workflow',
    answerBytes: RECORD_ANSWER_BYTES,
    description: 'An `error` keeps the workflow from being enabled; the rest informs.',
    responses: { 200: { description: 'What to mend, errors first', schema: findings } },
    refusals: [404],
    handle: async (call) => largeJson(200, await validateWorkflow(core, uuidKeyOf(call))),
  })
