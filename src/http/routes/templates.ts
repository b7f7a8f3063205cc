/**
 * Templates of a project. The list can be paged by cursor or by page number, and its response has
 * the fields of both.
 */
import type { z } from 'zod'
import { withEnd } from '../../features/ground/listing.ts'
import { listTemplates } from '../../features/mail/templates/list-templates.ts'
import {
  bulkUpdateTemplates,
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  findTemplateUsage,
  loadTemplateRecord,
  updateTemplate,
} from '../../features/mail/templates/templates.ts'
import { MAX_TEMPLATE_LENGTH } from '../../formats/template/limits.ts'
import { bulkChange, bulkResult } from '../../records/bulk.ts'
import { DEFAULT_PAGE_SIZE } from '../../records/limits.ts'
import { numbersOf } from '../../records/page.ts'
import {
  newTemplate,
  templateChanges,
  templateExample,
  templatePage,
  templateQuery,
  templateRecord,
  templateUsage,
} from '../../records/template.ts'
import { warnOfForeign } from '../edit-warnings.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../exchange/large-json.ts'
import { LIST_ANSWER_BYTES, pageResponse, wholeResponse } from '../exchange/list-response.ts'
import { type HttpResponse, json, noContent } from '../response.ts'
import { type ProjectCall, projectOperation, type RouteDeps, rowKeyOf } from '../route.ts'

/** JSON may write each character as \uXXXX. The other fields are short. */
const MAX_REQUEST_BYTES = MAX_TEMPLATE_LENGTH * 6 + 64 * 1024

/** The names of the fields in other services. */
const names = {
  aliases: { html: 'body', content: 'body', title: 'subject', sender: 'from', reply: 'replyTo' },
}

const shared = {
  tag: 'Templates',
  tagText: 'Subjects and bodies in Liquid, which emails refer to by id.',
} as const

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List templates',
    description:
      'Pages by `limit` and `cursor`, or by `page` and `pageSize`. A page by number is always ' +
      'complete; by cursor a page has at most 2 MB of JSON.',
    query: templateQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: templatePage } },
    example: () => ({
      query: { limit: '20', type: 'TRANSACTIONAL' },
      status: 200,
      response: {
        templates: [templateExample],
        data: [templateExample],
        total: 1,
        page: 1,
        pageSize: 20,
        totalPages: 1,
        cursor: null,
        hasMore: false,
      },
    }),
    handle: (call) => listPage(core, call),
  })

export const create = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Create a template',
    names,
    body: newTemplate,
    answerBytes: RECORD_ANSWER_BYTES,
    maxBodyBytes: MAX_REQUEST_BYTES,
    responses: { 201: { description: 'Created', schema: templateRecord } },
    example: () => ({
      request: {
        name: 'Order confirmation',
        subject: 'Your order {{ order }}',
        body: '<p>Thank you, {{ name }}.</p>',
        from: 'hello@example.test',
        type: 'TRANSACTIONAL',
      },
      status: 201,
      response: templateExample,
    }),
    handle: async ({ project, body, warn }) => {
      const template = await createTemplate(core, { projectId: project.id, ...body })
      warnOfForeign(body, warn)
      return largeJson(201, template)
    },
  })

export const bulkUpdate = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    growsDisk: false,
    summary: 'Delete all of the given templates or none',
    body: bulkChange,
    responses: { 200: { description: 'The number of templates', schema: bulkResult } },
    refusals: [404, 409],
    example: () => ({
      request: { ids: ['0199a7c0-0000-7000-8000-000000000012'], delete: true },
      status: 200,
      response: { deleted: 1 },
    }),
    handle: async ({ project, body }) =>
      json(200, await bulkUpdateTemplates(core, { projectId: project.id, ...body })),
  })

export const get = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show a template',
    answerBytes: RECORD_ANSWER_BYTES,
    responses: { 200: { description: 'The template', schema: templateRecord } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000010' },
      status: 200,
      response: templateExample,
    }),
    handle: async (call) => largeJson(200, await loadTemplateRecord(core, rowKeyOf(call))),
  })

export const update = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Change a template',
    answerBytes: RECORD_ANSWER_BYTES,
    description: 'Emails that were accepted before the change keep the old content.',
    names,
    body: templateChanges,
    maxBodyBytes: MAX_REQUEST_BYTES,
    responses: { 200: { description: 'The template after the change', schema: templateRecord } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000010' },
      request: { fromName: 'Shop' },
      status: 200,
      response: { ...templateExample, fromName: 'Shop' },
    }),
    handle: async (call) => {
      const template = await updateTemplate(core, { ...rowKeyOf(call), changes: call.body })
      warnOfForeign(call.body, call.warn)
      return largeJson(200, template)
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Delete a template that nothing uses',
    responses: { 204: { description: 'Deleted' } },
    refusals: [404, 409],
    example: () => ({ params: { id: '0199a7c0-0000-7000-8000-000000000010' }, status: 204 }),
    handle: async (call) => {
      await deleteTemplate(core, rowKeyOf(call))
      return noContent()
    },
  })

export const duplicate = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Copy a template',
    answerBytes: RECORD_ANSWER_BYTES,
    responses: { 201: { description: 'The copy', schema: templateRecord } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000010' },
      status: 201,
      response: {
        ...templateExample,
        id: '0199a7c0-0000-7000-8000-000000000012',
        name: 'Order confirmation (Copy)',
        fromName: 'Shop',
      },
    }),
    handle: async (call) => {
      const copy = await duplicateTemplate(core, rowKeyOf(call))
      warnOfForeign(copy, call.warn)
      return largeJson(201, copy)
    },
  })

export const showUsage = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show what uses a template',
    answerBytes: RECORD_ANSWER_BYTES,
    responses: { 200: { description: 'The uses and their numbers', schema: templateUsage } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000010' },
      status: 200,
      response: { workflowSteps: 0, emailsSent: 0, campaigns: [], workflows: [], steps: [] },
    }),
    handle: async (call) => largeJson(200, await findTemplateUsage(core, rowKeyOf(call))),
  })

/** Returns a page with the fields of both kinds of paging. */
async function listPage(
  core: RouteDeps['core'],
  call: ProjectCall<z.output<typeof templateQuery>, undefined>,
): Promise<HttpResponse> {
  const { limit, cursor, page = 1, pageSize = limit ?? DEFAULT_PAGE_SIZE, ...filters } = call.query
  const isNumbered = call.query.page !== undefined || call.query.pageSize !== undefined
  const isPaged = isNumbered && cursor === undefined
  const listing = await listTemplates(core, {
    ...{ ...filters, projectId: call.project.id, limit: pageSize },
    ...(isPaged ? { page } : { cursor }),
  })
  const numbered = withEnd(listing, ({ total, ...end }) => ({
    ...numbersOf({ total, page, pageSize }),
    ...end,
  }))
  const list = { name: 'templates', copy: 'data', listing: numbered }
  return isPaged ? wholeResponse(call, list) : pageResponse(call, list)
}
