/** The fields of a project's contacts: their values, and the segments and workflows that use them. */
import { deleteField } from '../../../features/people/contacts/fields/delete.ts'
import {
  listContactFields,
  listFieldValues,
} from '../../../features/people/contacts/fields/fields.ts'
import { findFieldUsage } from '../../../features/people/contacts/fields/usage.ts'
import { userIdOf } from '../../../features/tenancy/accounts/callers/caller.ts'
import {
  fieldDeletion,
  fieldList,
  fieldUsage,
  fieldValues,
  valuesQuery,
} from '../../../records/contact-field.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'

const shared = { tag: 'Contacts' } as const
const params = { field: 'data.<key>, or the name of a standard field' }

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List the fields of contacts by name',
    answerBytes: RECORD_ANSWER_BYTES,
    responses: {
      200: { description: 'Standard fields and the keys of data', schema: fieldList },
    },
    example: () => ({
      status: 200,
      response: {
        fields: [
          { field: 'createdAt', type: 'date', coverage: 100 },
          { field: 'data.city', type: 'string', coverage: 100 },
          { field: 'data.name', type: 'string', coverage: 100 },
          { field: 'data.plan', type: 'string', coverage: 100 },
          { field: 'email', type: 'string', coverage: 100 },
          { field: 'subscribed', type: 'boolean', coverage: 100 },
          { field: 'updatedAt', type: 'date', coverage: 100 },
        ],
        count: 7,
      },
    }),
    handle: async ({ project }) => largeJson(200, await listContactFields(core, project.id)),
  })

export const listValues = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List the distinct values of a field',
    answerBytes: RECORD_ANSWER_BYTES,
    description:
      'The values that conditions can compare: booleans, numbers, and texts of up to 1,000 characters.',
    params,
    query: valuesQuery,
    responses: { 200: { description: 'The values, in order', schema: fieldValues } },
    example: () => ({
      params: { field: 'data.plan' },
      status: 200,
      response: { field: 'data.plan', values: ['pro'], count: 1, limit: 100 },
    }),
    handle: async ({ project, params, query }) => {
      const { field = '' } = params
      const { limit } = query
      return largeJson(200, await listFieldValues(core, { projectId: project.id, field, limit }))
    },
  })

export const showUsage = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show what uses a field',
    answerBytes: RECORD_ANSWER_BYTES,
    params,
    responses: { 200: { description: 'The uses of the field', schema: fieldUsage } },
    example: () => ({
      params: { field: 'data.plan' },
      status: 200,
      response: {
        usedInSegments: [{ id: '0199a7c0-0000-7000-8000-000000000017', name: 'Pro customers' }],
        usedInCampaigns: [],
        usedInWorkflows: [],
        contactCount: 1,
        canDelete: false,
      },
    }),
    handle: async ({ project, params }) => {
      const { field = '' } = params
      return largeJson(200, await findFieldUsage(core, { projectId: project.id, field }))
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Delete a field of `data` from all contacts',
    description: 'With many contacts this is a job: GET /contacts/bulk/:jobId shows its progress.',
    params,
    responses: {
      200: {
        description: 'Deleted, or queued as a job',
        schema: fieldDeletion,
      },
    },
    refusals: [400, 409, 422],
    example: () => ({ params: { field: 'data.city' }, status: 200, response: { deletedFrom: 1 } }),
    handle: async ({ project, caller, params }) => {
      const { field = '' } = params
      const asked = { projectId: project.id, field, userId: userIdOf(caller) }
      return json(200, await deleteField(core, asked))
    },
  })
