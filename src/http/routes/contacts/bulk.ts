/** Bulk operations on contacts. Each is queued as a job, whose state can be polled. */
import { z } from 'zod'
import {
  type BulkSelection,
  findBulkStatus,
  startBulk,
} from '../../../features/people/contacts/bulk/bulk-job.ts'
import type { BulkOperation } from '../../../features/people/contacts/bulk/result.ts'
import { userIdOf } from '../../../features/tenancy/accounts/callers/caller.ts'
import { conditionField } from '../../../records/condition.ts'
import { id } from '../../../records/fields.ts'
import { jobStatus, queuedJob } from '../../../records/job.ts'
import {
  MAX_EXCLUDED_IDS,
  MAX_IDS_PER_REQUEST,
  MAX_SEARCH_LENGTH,
} from '../../../records/limits.ts'
import { JOB_ANSWER_BYTES, jobResponse } from '../../exchange/large-json.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import type { OperationExample } from '../../route-docs.ts'

// The filter is strict, because a misspelt name must not widen the set of contacts.
const filter = z.strictObject({
  // No address contains a blank, and a search for one would match all contacts.
  search: z
    .string()
    .max(MAX_SEARCH_LENGTH)
    .refine((text) => text === '' || text.trim() !== '', 'Must not be blank; omit it instead')
    .optional()
    .meta({ description: 'Part of the address' }),
  subscribed: z.boolean().optional(),
  condition: conditionField.optional(),
})

const selectionFields = {
  mode: z.enum(['ids', 'query']).default('ids'),
  contactIds: z
    .array(id)
    .min(1)
    .max(MAX_IDS_PER_REQUEST)
    .optional()
    .meta({ description: 'For mode ids' }),
  filter: filter.optional().meta({ description: 'For mode query; {} selects all contacts' }),
  excludeIds: z
    .array(id)
    .max(MAX_EXCLUDED_IDS)
    .optional()
    .meta({ description: 'For mode query: contacts to leave out' }),
}

const requestBody = z.strictObject(selectionFields).transform(toSelection)

const subscribeBody = z
  .strictObject({
    ...selectionFields,
    resubscribe: z.boolean().optional().meta({
      description:
        'Whether people who left by themselves or complained are subscribed too; false by default: they stay unsubscribed and are counted in `keptUnsubscribedCount`',
    }),
  })
  .transform(({ resubscribe = false, ...selection }, context) => ({
    resubscribe,
    selection: toSelection(selection, context),
  }))

type SelectionFields = z.infer<z.ZodObject<typeof selectionFields>>

function toSelection(
  { mode, contactIds, filter, excludeIds }: SelectionFields,
  context: z.RefinementCtx,
): BulkSelection<unknown> {
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message })
  const params = { code: 'invalid_type' }
  const addMissing = (field: string) =>
    context.addIssue({ code: 'custom', path: [field], message: 'Required', params })
  if (mode === 'ids') {
    if (filter !== undefined) refuse('filter', 'Allowed with mode "query" only')
    if (excludeIds !== undefined) refuse('excludeIds', 'Allowed with mode "query" only')
    if (contactIds === undefined) addMissing('contactIds')
    return { mode, contactIds: contactIds ?? [] }
  }
  if (contactIds !== undefined) refuse('contactIds', 'Allowed with mode "ids" only')
  if (filter === undefined) addMissing('filter')
  return { mode, filter: filter ?? {}, excludeIds: excludeIds ?? [] }
}

const status = jobStatus(
  z.unknown().meta({
    description:
      'When completed: operation, totalRequested, successCount, unchangedCount, keptUnsubscribedCount (those among the unchanged who left), failureCount, errors (contactId, email, error)',
  }),
)

const shared = { tag: 'Contacts' } as const

export const subscribe = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    ...jobShape,
    summary: 'Subscribe contacts',
    body: subscribeBody,
    example: () => ({
      request: { contactIds: ['0199a7c0-0000-7000-8000-000000000003'] },
      status: 202,
      response: {
        message: 'The bulk subscribe is queued.',
        jobId: 'bulk-subscribe-0199a7c0-0000-7000-8000-000000000001-1795339805000',
      },
    }),
    handle: async ({ project, caller, body }) => {
      const operation = 'subscribe' as const
      const job = { projectId: project.id, userId: userIdOf(caller), operation, ...body }
      return queued(operation, await startBulk(core, job))
    },
  })

export const unsubscribe = (deps: RouteDeps) =>
  bulkOperation(deps, 'unsubscribe', {
    summary: 'Unsubscribe contacts',
    // On a nearly full disk only calls with given contacts are accepted: a query may match a
    // million contacts, each with an event to store.
    protects: (given) => typeof given === 'object' && given !== null && 'contactIds' in given,
    example: () => ({
      request: { mode: 'query', filter: { search: 'bob@' } },
      status: 202,
      response: {
        message: 'The bulk unsubscribe is queued.',
        jobId: 'bulk-unsubscribe-0199a7c0-0000-7000-8000-000000000001-1795339806000',
      },
    }),
  })

export const remove = (deps: RouteDeps) =>
  bulkOperation(deps, 'delete', {
    summary: 'Delete contacts with their emails and events',
    growsDisk: false,
    example: () => ({
      request: { contactIds: ['0199a7c0-0000-7000-8000-000000000003'] },
      status: 202,
      response: {
        message: 'The bulk delete is queued.',
        jobId: 'bulk-delete-0199a7c0-0000-7000-8000-000000000001-1795339808000',
      },
    }),
  })

export const showStatus = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show the progress of a bulk job',
    answerBytes: JOB_ANSWER_BYTES,
    responses: { 200: { description: 'The job', schema: status } },
    refusals: [404],
    example: () => ({
      params: { jobId: 'bulk-unsubscribe-0199a7c0-0000-7000-8000-000000000001-1795339806000' },
      status: 200,
      response: {
        id: 'bulk-unsubscribe-0199a7c0-0000-7000-8000-000000000001-1795339806000',
        state: 'completed',
        progress: 100,
        result: {
          operation: 'unsubscribe',
          totalRequested: 1,
          successCount: 1,
          unchangedCount: 0,
          keptUnsubscribedCount: 0,
          failureCount: 0,
          errors: [],
        },
        data: {
          operation: 'unsubscribe',
          projectId: '0199a7c0-0000-7000-8000-000000000001',
          mode: 'query',
          filter: { search: 'bob@' },
          excludeIds: [],
        },
        failedReason: null,
      },
    }),
    handle: (call) =>
      jobResponse(core, call, (jobId) =>
        findBulkStatus(core, { projectId: call.project.id, jobId }),
      ),
  })

const jobShape = {
  description:
    "Applies to the given contacts, or to all contacts that match the filter when the job starts. Ids that are not the project's count as failures in the result.",
  responses: { 202: { description: 'Queued', schema: queuedJob } },
  refusals: [400, 409],
} as const

function queued(operation: BulkOperation, jobId: string) {
  return json(202, { message: `The bulk ${operation} is queued.`, jobId })
}

type BulkShape = {
  summary: string
  growsDisk?: boolean
  protects?(given: unknown): boolean
  example(): OperationExample
}

function bulkOperation({ core }: RouteDeps, operation: BulkOperation, shape: BulkShape) {
  return projectOperation({
    ...shared,
    ...jobShape,
    ...shape,
    body: requestBody,
    handle: async ({ project, caller, body }) => {
      const userId = userIdOf(caller)
      const job = { projectId: project.id, userId, operation, selection: body }
      return queued(operation, await startBulk(core, job))
    },
  })
}
