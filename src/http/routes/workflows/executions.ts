/** The executions of a workflow: started by hand, one by one or in bulk, listed, cancelled, retried. */
import { z } from 'zod'
import { withEnd } from '../../../features/ground/listing.ts'
import { findBulkStart, startMany } from '../../../features/outreach/workflows/executions/bulk.ts'
import { cancelExecution } from '../../../features/outreach/workflows/executions/cancel-active.ts'
import { cancelAllExecutions } from '../../../features/outreach/workflows/executions/cancel-all.ts'
import {
  listExecutions,
  viewExecution,
} from '../../../features/outreach/workflows/executions/show-executions.ts'
import { retryExecution } from '../../../features/outreach/workflows/executions/start.ts'
import { startOne } from '../../../features/outreach/workflows/executions/start-executions.ts'
import { userIdOf } from '../../../features/tenancy/accounts/callers/caller.ts'
import { conditionField } from '../../../records/condition.ts'
import {
  executionDetail,
  executionPage,
  executionQuery,
  executionRecord,
} from '../../../records/execution.ts'
import { id } from '../../../records/fields.ts'
import { jobStatus, queuedJob } from '../../../records/job.ts'
import { numbersOf } from '../../../records/page.ts'
import { JOB_ANSWER_BYTES, jobResponse } from '../../exchange/large-json.ts'
import { LIST_ANSWER_BYTES, wholeResponse } from '../../exchange/list-response.ts'
import { json } from '../../response.ts'
import { type ProjectCall, projectOperation, type RouteDeps } from '../../route.ts'
import { uuidKeyOf } from '../../uuid-key.ts'
import { validate } from '../../validation.ts'
import * as examples from './execution-examples.ts'

const context = z
  .unknown()
  .refine(isObjectOrAbsent, { message: 'Expected an object', params: { code: 'invalid_type' } })
  .transform((value) => (value ?? null) as Record<string, unknown> | null)
  .optional()
  .meta({
    type: ['object', 'null'],
    description: 'Variables of the execution, also as `event.*`; at most 64 KB of JSON',
  })

const newExecution = z.object({ contactId: id, context })

// The body is strict, because a misspelt name must not widen the set of contacts.
const bulkStart = z
  .strictObject({
    segmentId: id.optional().meta({ description: 'Its members' }),
    filter: conditionField.optional(),
    context,
  })
  .transform(({ segmentId, filter, context: given }, refinement) => {
    const refuse = (field: string, message: string, code: string) =>
      refinement.addIssue({ code: 'custom', path: [field], message, params: { code } })
    if (segmentId !== undefined && filter !== undefined) {
      refuse('filter', 'Give either segmentId or filter', 'custom')
    }
    if (segmentId === undefined && filter === undefined) {
      refuse('segmentId', 'Required, unless filter is given', 'required')
    }
    return { selection: segmentId === undefined ? { filter } : { segmentId }, context: given }
  })

const bulkStatus = jobStatus(
  z.unknown().meta({
    description:
      'When completed: totalRequested, startedCount, heldBackCount (by re-entry), tooManyStartsCount, failureCount (contacts deleted meanwhile)',
  }),
)

const params = { id: 'The id of the workflow', eid: 'The id of the execution' }
const shared = { tag: 'Workflows', params: { id: params.id } } as const
const ofOne = { tag: 'Workflows', params } as const

export const start = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Start an execution for a contact',
    description:
      'Refused with 400 while the workflow is disabled, and with 409 if the contact has an active ' +
      'execution of it, had one and the workflow does not allow re-entry, or was started 100 times ' +
      'within an hour.',
    body: newExecution,
    responses: { 201: { description: 'Started', schema: executionRecord } },
    refusals: [400, 404, 409],
    example: examples.start,
    handle: async (call) => {
      const { contactId, context: given = null } = call.body
      return json(201, await startOne(core, { ...uuidKeyOf(call), contactId, context: given }))
    },
  })

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List the executions of a workflow, newest first',
    query: executionQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: executionPage } },
    refusals: [404],
    example: examples.list,
    handle: async (call) => {
      const { page, pageSize } = call.query
      const { listing, total } = await listExecutions(core, { ...call.query, ...uuidKeyOf(call) })
      const numbered = withEnd(listing, () => numbersOf({ total, page, pageSize }))
      return wholeResponse(call, { name: 'executions', listing: numbered })
    },
  })

export const show = ({ core }: RouteDeps) =>
  projectOperation({
    ...ofOne,
    summary: 'Show an execution, step by step',
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'The execution', schema: executionDetail } },
    refusals: [404],
    example: examples.show,
    handle: async (call) => {
      const { record: before, steps } = await viewExecution(core, executionKeyOf(call))
      return wholeResponse(call, { before, name: 'stepExecutions', listing: steps })
    },
  })

export const cancel = ({ core }: RouteDeps) =>
  projectOperation({
    ...ofOne,
    growsDisk: false,
    summary: 'Cancel an execution',
    description: 'An execution that has ended stays as it is.',
    responses: { 200: { description: 'The execution', schema: executionRecord } },
    refusals: [404],
    example: examples.cancel,
    handle: async (call) => json(200, await cancelExecution(core, executionKeyOf(call))),
  })

export const cancelAll = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    growsDisk: false,
    summary: 'Cancel all active executions of a workflow',
    description: 'Nothing in the query or the body selects some of them: such names are refused.',
    query: z.strictObject({}),
    body: z.strictObject({}).optional(),
    responses: {
      200: {
        description: 'The number of executions that were active',
        schema: z.object({ cancelled: z.int() }),
      },
    },
    refusals: [404],
    example: examples.cancelAll,
    handle: async (call) =>
      json(200, { cancelled: await cancelAllExecutions(core, uuidKeyOf(call)) }),
  })

export const retry = ({ core }: RouteDeps) =>
  projectOperation({
    ...ofOne,
    summary: 'Retry a failed execution from its failed step',
    description:
      'Refused with 409 unless the execution is FAILED, if its step was removed, and while the ' +
      'contact has another active execution of the workflow.',
    responses: { 200: { description: 'The execution', schema: executionRecord } },
    refusals: [404, 409],
    example: examples.retry,
    handle: async (call) => json(200, await retryExecution(core, executionKeyOf(call))),
  })

export const startBulk = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Start executions for many contacts',
    description:
      'For the members of a segment, or for the contacts that match a filter, if they existed when ' +
      'the job began. The rules of re-entry apply; contacts that they hold back are counted.',
    body: bulkStart,
    responses: { 202: { description: 'Queued', schema: queuedJob } },
    refusals: [400, 404, 409],
    example: examples.startBulk,
    handle: async (call) => {
      const { selection, context: given = null } = call.body
      const userId = userIdOf(call.caller)
      const job = { ...uuidKeyOf(call), selection, context: given, userId }
      const jobId = await startMany(core, job)
      return json(202, { message: 'The executions are queued.', jobId })
    },
  })

export const showBulk = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show the progress of a bulk start',
    answerBytes: JOB_ANSWER_BYTES,
    responses: { 200: { description: 'The job', schema: bulkStatus } },
    refusals: [404],
    example: examples.showBulk,
    handle: (call) =>
      jobResponse(core, call, (jobId) => findBulkStart(core, { ...uuidKeyOf(call), jobId })),
  })

/** @throws AppError VALIDATION_ERROR for ids that are not UUIDs */
function executionKeyOf(call: ProjectCall<unknown, unknown>) {
  const { eid: executionId } = validate(z.object({ eid: id }), { eid: call.params.eid })
  return { ...uuidKeyOf(call), executionId }
}

function isObjectOrAbsent(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && !Array.isArray(value))
}
