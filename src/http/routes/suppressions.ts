/** A project's suppression list: addresses that the project does not send to. */
import { z } from 'zod'
import {
  addSuppressions,
  deleteAddresses,
  deleteSuppression,
  listSuppressions,
} from '../../features/mail/suppressions/suppressions.ts'
import {
  newSuppressions,
  removedSuppressions,
  suppressionExample,
  suppressionPage,
  suppressionQuery,
  suppressionRecord,
} from '../../records/suppression.ts'
import { LIST_ANSWER_BYTES, pageResponse } from '../exchange/list-response.ts'
import { json, noContent } from '../response.ts'
import { projectOperation, type RouteDeps } from '../route.ts'

const shared = {
  tag: 'Suppressions',
  tagText: 'Addresses that the project does not send to.',
} as const

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List suppressed addresses, newest first',
    query: suppressionQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: suppressionPage } },
    example: () => ({
      query: { limit: '20', reason: 'MANUAL' },
      status: 200,
      response: {
        data: [
          suppressionExample,
          {
            ...suppressionExample,
            id: '0199a7c0-0000-7000-8000-000000000020',
            email: 'gone@example.org',
          },
        ],
        cursor: null,
        hasMore: false,
        total: 2,
      },
    }),
    handle: async (call) => {
      const listing = await listSuppressions(core, { projectId: call.project.id, ...call.query })
      return pageResponse(call, { name: 'data', listing })
    },
  })

export const add = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    // The write is small and protects people.
    growsDisk: false,
    summary: 'Suppress addresses',
    description:
      'Contacts with these addresses are unsubscribed. An address that is on the list keeps its first reason.',
    body: newSuppressions,
    names: { record: suppressionRecord },
    responses: {
      200: {
        description: 'The numbers of new and of existing entries',
        schema: z.object({ added: z.int(), existing: z.int() }),
      },
    },
    example: () => ({
      request: { emails: ['gone@example.org', 'away@example.org'], reason: 'MANUAL' },
      status: 200,
      response: { added: 2, existing: 0 },
    }),
    handle: async ({ project, body }) => {
      const addresses = body.emails ?? (body.email === undefined ? [] : [body.email])
      const { reason = 'MANUAL' } = body
      return json(200, await addSuppressions(core, { projectId: project.id, addresses, reason }))
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Remove an address from the list',
    responses: { 204: { description: 'Removed' } },
    refusals: [404],
    example: () => ({ params: { id: '0199a7c0-0000-7000-8000-000000000019' }, status: 204 }),
    handle: async ({ project, params }) => {
      await deleteSuppression(core, { projectId: project.id, id: params.id ?? '' })
      return noContent()
    },
  })

export const removeMany = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Remove addresses from the list',
    body: removedSuppressions,
    responses: {
      200: {
        description: 'The number of addresses that were on the list',
        schema: z.object({ removed: z.int() }),
      },
    },
    example: () => ({
      request: { emails: ['gone@example.org', 'away@example.org'] },
      status: 200,
      response: { removed: 1 },
    }),
    handle: async ({ project, body }) => {
      const { emails: addresses } = body
      return json(200, {
        removed: await deleteAddresses(core, { projectId: project.id, addresses }),
      })
    },
  })
