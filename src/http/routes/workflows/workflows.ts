/** The workflows of a project: their definitions. */
import { z } from 'zod'
import { withEnd } from '../../../features/ground/listing.ts'
import {
  createWorkflow,
  duplicateWorkflow,
} from '../../../features/outreach/workflows/definition/create.ts'
import {
  bulkUpdateWorkflows,
  deleteWorkflow,
} from '../../../features/outreach/workflows/definition/delete.ts'
import { updateWorkflow } from '../../../features/outreach/workflows/definition/edit.ts'
import { listWorkflowFields } from '../../../features/outreach/workflows/definition/fields.ts'
import {
  listWorkflows,
  loadWorkflowDetail,
} from '../../../features/outreach/workflows/definition/view.ts'
import { MAX_CONFIGS_BYTES } from '../../../features/outreach/workflows/limits.ts'
import { bulkChange, bulkResult } from '../../../records/bulk.ts'
import { eventName } from '../../../records/event.ts'
import { numbersOf, PAGING_TEXT, pagingOf } from '../../../records/page.ts'
import {
  listedWorkflow,
  type WorkflowDetail,
  workflowDetail,
  workflowFields,
  workflowPage,
  workflowQuery,
} from '../../../records/workflow.ts'
import { eventOf, warnOfSilentEvents } from '../../edit-warnings.ts'
import { readIfMatch } from '../../exchange/if-match.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { LIST_ANSWER_BYTES, pageResponse, wholeResponse } from '../../exchange/list-response.ts'
import { type HttpResponse, json, noContent } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { editedKeyOf, uuidKeyOf, viewedKeyOf } from '../../uuid-key.ts'
import * as examples from './examples.ts'
import { newWorkflow, workflowChanges } from './fields.ts'

const fieldsQuery = z.object({
  eventName: eventName.optional().meta({
    description: 'Adds the fields of the last hundred events of this name with data',
  }),
})

const shared = {
  tag: 'Workflows',
  tagText: 'Graphs of steps that contacts walk through, each at its own pace.',
} as const

/** The memory of a workflow: its configs, as rows and as JSON. */
const WORKFLOW_ANSWER_BYTES = 2 * MAX_CONFIGS_BYTES

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List workflows',
    description: PAGING_TEXT,
    query: workflowQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: workflowPage } },
    example: examples.list,
    handle: async (call) => {
      const { status, search, sort, dir } = call.query
      const { isNumbered, pageSize, ...place } = pagingOf(call.query)
      const isEnabled = status === undefined ? undefined : status === 'active'
      const order = { sort, dir, pageSize, ...place }
      const wanted = { projectId: call.project.id, search, isEnabled, ...order }
      const { listing: found, page, total } = await listWorkflows(core, wanted)
      const numbers = numbersOf({ total, page, pageSize })
      const listing = withEnd(found, (end) => ({ ...numbers, ...end }))
      return (isNumbered ? wholeResponse : pageResponse)(call, { name: 'data', listing })
    },
  })

export const listFields = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List the fields that a CONDITION can ask for',
    answerBytes: RECORD_ANSWER_BYTES,
    query: fieldsQuery,
    responses: { 200: { description: 'The fields', schema: workflowFields } },
    example: examples.listFields,
    handle: async ({ project, query }) =>
      largeJson(200, await listWorkflowFields(core, { projectId: project.id, ...query })),
  })

export const create = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Create a workflow',
    answerBytes: WORKFLOW_ANSWER_BYTES,
    description:
      'The new workflow is disabled, is triggered by an event, and has one step, its TRIGGER.',
    body: newWorkflow,
    names: { record: listedWorkflow },
    responses: { 201: { description: 'Created', schema: workflowDetail } },
    example: examples.create,
    handle: async ({
      project,
      body: { workflow, isEnabledGiven, givenTrigger },
      reportUnknown: report,
      warn,
    }) => {
      const made = await createWorkflow(core, { projectId: project.id, ...workflow, report })
      if (isEnabledGiven) {
        warn({
          field: 'enabled',
          message: 'A new workflow is disabled: no event starts it yet.',
          suggestion: `Add its steps, then PATCH /workflows/${made.id} {"enabled": true}`,
        })
      }
      const event = { field: 'eventName', name: workflow.eventName }
      await warnOfSilentEvents(core, { project, warn }, [event])
      if (givenTrigger !== 'EVENT') {
        warn({
          field: 'triggerType',
          message: 'A new workflow is started by an event.',
          suggestion: `PATCH /workflows/${made.id} {"triggerType": "${givenTrigger}", "triggerConfig": …}`,
        })
      }
      return respond(201, made)
    },
  })

export const get = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show a workflow with its steps and transitions',
    answerBytes: WORKFLOW_ANSWER_BYTES,
    description: 'The header `ETag` holds the version, for `If-Match` of a change.',
    responses: { 200: { description: 'The workflow', schema: workflowDetail } },
    refusals: [404],
    example: examples.get,
    handle: async (call) => respond(200, await loadWorkflowDetail(core, viewedKeyOf(call))),
  })

export const update = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Change a workflow',
    answerBytes: WORKFLOW_ANSWER_BYTES,
    description:
      'Changes the fields that are given. Enabling is refused with 400 while `validate` finds an ' +
      'error (`error.details.findings`); only later events start executions. The trigger cannot ' +
      'change while the workflow is enabled and has active executions. With the header ' +
      '`If-Match: "3"` the change is made to version 3 only: any other version is answered with 412 ' +
      'and the current record in `error.details.current`.',
    names: {
      aliases: { status: 'enabled', state: 'enabled', active: 'enabled', isActive: 'enabled' },
    },
    body: workflowChanges,
    responses: { 200: { description: 'The workflow after the change', schema: workflowDetail } },
    refusals: [400, 404, 409, 412],
    example: examples.update,
    handle: async (call) => {
      const isExpected = readIfMatch(call.incoming)
      const key = editedKeyOf(call)
      const changed = await updateWorkflow(core, { ...key, changes: call.body, isExpected })
      const event = eventOf(call.body.triggerConfig, 'triggerConfig')
      await warnOfSilentEvents(core, call, [event])
      return respond(200, changed)
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Delete a workflow with its executions',
    description:
      'Active executions must first have ended or been cancelled. The workflow is gone at once; its ' +
      'executions are deleted in the background.',
    responses: { 204: { description: 'Deleted' } },
    refusals: [404, 409],
    example: examples.remove,
    handle: async (call) => {
      await deleteWorkflow(core, uuidKeyOf(call))
      return noContent()
    },
  })

export const duplicate = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Copy a workflow',
    answerBytes: WORKFLOW_ANSWER_BYTES,
    description: 'The copy is disabled and has no executions.',
    responses: { 201: { description: 'The copy', schema: workflowDetail } },
    refusals: [404],
    example: examples.duplicate,
    handle: async (call) => respond(201, await duplicateWorkflow(core, viewedKeyOf(call))),
  })

export const bulkUpdate = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    growsDisk: false,
    summary: 'Delete all of the given workflows or none',
    body: bulkChange,
    responses: { 200: { description: 'The number of workflows', schema: bulkResult } },
    refusals: [404, 409],
    example: examples.bulkUpdate,
    handle: async ({ project, body }) =>
      json(200, await bulkUpdateWorkflows(core, { projectId: project.id, ...body })),
  })

function respond(status: number, workflow: WorkflowDetail): HttpResponse {
  const { headers, ...response } = largeJson(status, workflow)
  return { ...response, headers: { ...headers, etag: `"${workflow.version}"` } }
}
