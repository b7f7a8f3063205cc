/** The graph of a workflow as a whole. */
import { z } from 'zod'
import { replaceGraph } from '../../../features/outreach/workflows/definition/replace-graph.ts'
import { validateWorkflow } from '../../../features/outreach/workflows/definition/validate.ts'
import { MAX_CONFIGS_BYTES } from '../../../features/outreach/workflows/limits.ts'
import { transitionRecord, workflowDetail } from '../../../records/workflow.ts'
import { eventOf, warnOfLiveError, warnOfSilentEvents } from '../../edit-warnings.ts'
import { readIfMatch } from '../../exchange/if-match.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { editedKeyOf, uuidKeyOf } from '../../uuid-key.ts'
import * as examples from './examples.ts'
import { graph, MAX_GRAPH_BYTES } from './fields.ts'

const shared = { tag: 'Workflows' } as const

/** The fields of a workflow that a graph does not set, each with the call that sets it. */
const WAYS = Object.fromEntries(
  ['name', 'description', 'enabled', 'triggerType', 'allowReentry'].map((name) => [
    name,
    'PATCH /workflows/:id',
  ]),
)

const replaced = workflowDetail
  .extend({
    ids: z.record(z.string(), z.string()).optional().meta({
      description: 'The UUIDs of the steps by the names of the request, if it had some',
    }),
  })
  .meta({ id: 'ReplacedWorkflow' })

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

/**
 * The names that a client may send back in a graph: those of the answer of GET, and a list of
 * transitions.
 */
const sentBack = workflowDetail.extend({ transitions: z.array(transitionRecord) })

export const replace = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Replace all steps and transitions',
    answerBytes: 2 * MAX_CONFIGS_BYTES,
    description:
      'In one transaction. The ids of steps are UUIDs of your choice, or names such as `welcome`: `ids` ' +
      'of the answer has the UUIDs of the names, and the same name means the same step when the graph is ' +
      "sent again. The name of a TRIGGER is that of the workflow's own. Steps and transitions that are " +
      'missing are removed. A header of a WEBHOOK whose value is `***` stays as that of the same step. Refused ' +
      'with 409 where single edits would be. `If-Match` as for a change of the ' +
      'workflow.',
    body: graph,
    names: { record: sentBack, ways: WAYS },
    maxBodyBytes: MAX_GRAPH_BYTES,
    responses: { 200: { description: 'The workflow after the change', schema: replaced } },
    refusals: [404, 409, 412],
    example: examples.replace,
    handle: async (call) => {
      const isExpected = readIfMatch(call.incoming)
      const edit = { ...editedKeyOf(call), isExpected, graph: call.body }
      const { workflow, ids } = await replaceGraph(core, edit)
      const events = call.body.steps.map(({ config }, index) =>
        eventOf(config, `steps.${index}.config`),
      )
      await warnOfSilentEvents(core, call, events)
      await warnOfLiveError(core, call, { field: 'steps' })
      const named = Object.keys(ids).length === 0 ? {} : { ids }
      const { headers, ...response } = largeJson(200, { ...workflow, ...named })
      return { ...response, headers: { ...headers, etag: `"${workflow.version}"` } }
    },
  })

export const check = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    isRead: true,
    summary: 'Check a workflow',
    answerBytes: RECORD_ANSWER_BYTES,
    description: 'An `error` keeps the workflow from being enabled; the rest informs.',
    responses: { 200: { description: 'What to mend, errors first', schema: findings } },
    refusals: [404],
    example: examples.check,
    handle: async (call) => largeJson(200, await validateWorkflow(core, uuidKeyOf(call))),
  })
