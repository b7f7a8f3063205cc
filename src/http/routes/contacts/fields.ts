/** What contacts of a project have besides an address: the fields, their values, who refers to them. */
import { z } from 'zod'
import { deleteField } from '../../../features/contacts/fields/delete.ts'
import { listFields } from '../../../features/contacts/fields/list.ts'
import { findFieldUsage } from '../../../features/contacts/fields/usage.ts'
import { listFieldValues } from '../../../features/contacts/fields/values.ts'
import { projectOperation } from '../../operation.ts'
import { json } from '../../response.ts'
import type { RouteDeps } from '../../route-deps.ts'
import { countParameter } from '../../shapes/paging.ts'

const fieldList = z.object({
  fields: z.array(
    z.object({
      field: z.string().meta({ examples: ['email', 'data.plan'] }),
      type: z.enum(['string', 'number', 'boolean', 'date']),
      coverage: z
        .int()
        .min(0)
        .max(100)
        .meta({ description: 'Percent of the contacts that have it' }),
    }),
  ),
  count: z.int(),
})

const valuesQuery = z.object({ limit: countParameter({ fallback: 100, cap: 200 }) })

const fieldValues = z.object({
  field: z.string(),
  values: z.array(z.union([z.string(), z.number(), z.boolean()])),
  count: z.int().meta({ description: 'How many are listed' }),
  limit: z.int(),
})

const uses = z.array(z.object({ id: z.string(), name: z.string() }))

const fieldUsage = z.object({
  usedInSegments: uses,
  usedInCampaigns: uses,
  usedInWorkflows: uses,
  contactCount: z.int().meta({ description: 'How many contacts have it' }),
  canDelete: z.boolean(),
})

const deletedFrom = z.int().meta({ description: 'How many contacts had it' })

const shared = { tag: 'Contacts' } as const
const params = { field: 'data.<key>, or the name of a standard field' }

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List the fields of contacts, by name',
    responses: {
      200: { description: 'Standard fields and the keys of data', schema: fieldList },
    },
    handle: async ({ project }) => json(200, await listFields(core, project.id)),
  })

export const listValues = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List distinct values of a field',
    description:
      'Those that conditions compare with: booleans, numbers and texts of up to 1,000 characters.',
    params,
    query: valuesQuery,
    responses: { 200: { description: 'The values, in order', schema: fieldValues } },
    handle: async ({ project, params, query }) => {
      const { field = '' } = params
      const { limit } = query
      return json(200, await listFieldValues(core, { projectId: project.id, field, limit }))
    },
  })

export const showUsage = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show what refers to a field',
    params,
    responses: { 200: { description: 'What refers to it', schema: fieldUsage } },
    handle: async ({ project, params }) => {
      const { field = '' } = params
      return json(200, await findFieldUsage(core, { projectId: project.id, field }))
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Delete a field of the data from all contacts',
    description: 'Many contacts are a job: GET /contacts/bulk/:jobId shows how far it is.',
    params,
    responses: {
      200: {
        description: 'Deleted, or being deleted by a job',
        schema: z.object({ deletedFrom, jobId: z.string().optional() }),
      },
    },
    refusals: [400, 409, 422],
    handle: async ({ project, params }) => {
      const { field = '' } = params
      return json(200, await deleteField(core, { projectId: project.id, field }))
    },
  })
