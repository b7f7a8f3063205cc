/** Many contacts at once (contract 3.4): queued, with a job to look at. */
import { z } from 'zod'
import {
  type BulkOperation,
  type BulkSelection,
  findBulkStatus,
  startBulk,
} from '../../../features/contacts/bulk/start.ts'
import type { Core } from '../../../features/core.ts'
import { json, keyedRoute, type Route } from '../../route.ts'
import { conditionField } from '../../shapes/condition.ts'
import { id } from '../../shapes/fields.ts'
import { jobStatus, queuedJob } from '../../shapes/jobs.ts'

const MAX_IDS = 1_000
const MAX_EXCLUDED = 10_000

// A name that is not known here must not widen what is deleted.
const filter = z.strictObject({
  // Blanks are no part of any address, and would mean everybody.
  search: z
    .string()
    .max(255)
    .refine((text) => text === '' || text.trim() !== '', 'Must not be blank: leave it out')
    .optional()
    .meta({ description: 'Part of the address' }),
  subscribed: z.boolean().optional(),
  condition: conditionField.optional(),
})

const order = z
  .strictObject({
    mode: z.enum(['ids', 'query']).default('ids'),
    contactIds: z.array(id).min(1).max(MAX_IDS).optional().meta({ description: 'Of mode ids' }),
    filter: filter.optional().meta({ description: 'Of mode query; an empty one is everybody' }),
    excludeIds: z
      .array(id)
      .max(MAX_EXCLUDED)
      .optional()
      .meta({ description: 'Of mode query: contacts to leave alone' }),
  })
  .transform(({ mode, contactIds, filter, excludeIds }, context): BulkSelection<unknown> => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    const params = { code: 'invalid_type' }
    const miss = (field: string) =>
      context.addIssue({ code: 'custom', path: [field], message: 'Required', params })
    if (mode === 'ids') {
      if (filter !== undefined) refuse('filter', 'Goes with mode "query" only')
      if (excludeIds !== undefined) refuse('excludeIds', 'Goes with mode "query" only')
      if (contactIds === undefined) miss('contactIds')
      return { mode, contactIds: contactIds ?? [] }
    }
    if (contactIds !== undefined) refuse('contactIds', 'Goes with mode "ids" only')
    if (filter === undefined) miss('filter')
    return { mode, filter: filter ?? {}, excludeIds: excludeIds ?? [] }
  })

const status = jobStatus(
  z.unknown().meta({
    description:
      'When completed: operation, totalRequested, successCount, unchangedCount, failureCount, errors (contactId, email, error)',
  }),
)

const shared = { tag: 'Contacts', permission: 'secret' } as const

export function contactBulkRoutes(core: Core): Route[] {
  return [
    bulkRoute(core, 'subscribe', 'Subscribe contacts'),
    bulkRoute(core, 'unsubscribe', 'Unsubscribe contacts'),
    bulkRoute(core, 'delete', 'Delete contacts, their emails and their events'),
    keyedRoute({
      ...shared,
      method: 'GET',
      path: '/contacts/bulk/:jobId',
      summary: 'Show how far a bulk job is',
      responses: { 200: { description: 'The job', schema: status } },
      refusals: [404],
      handle: async ({ project, params }) => {
        const { jobId = '' } = params
        return json(200, await findBulkStatus(core, { projectId: project.id, jobId }))
      },
    }),
  ]
}

function bulkRoute(core: Core, operation: BulkOperation, summary: string): Route {
  return keyedRoute({
    ...shared,
    method: 'POST',
    path: `/contacts/bulk-${operation}`,
    growsDisk: operation !== 'delete',
    // A query may find a million, each of them an event.
    protects: (given) => operation === 'unsubscribe' && hasFew(given),
    summary,
    description: `Those that are named, or all that match the filter when the job begins. Ids that are not the project's are failures of the result.`,
    body: order,
    responses: { 202: { description: 'Queued', schema: queuedJob } },
    refusals: [400, 409],
    handle: async ({ project, body }) => {
      const jobId = await startBulk(core, { projectId: project.id, operation, target: body })
      return json(202, { message: `The bulk ${operation} is queued.`, jobId })
    },
  })
}

function hasFew(given: unknown): boolean {
  return typeof given === 'object' && given !== null && 'contactIds' in given
}
