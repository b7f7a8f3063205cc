import { campaignExample as campaign } from '../../records/campaign.ts'
import type { Examples } from './operation-example.ts'

const params = { id: '0199a7c0-0000-7000-8000-000000000031' }
const own = { id: params.id, name: 'Winter', maxPerHour: 10_000, totalRecipients: 1 }
const winter = { ...campaign, ...own, description: 'To everybody' }
const copy = { ...winter, id: '0199a7c0-0000-7000-8000-000000000032', name: 'Winter (Copy)' }
const archivedAt = '2026-11-22T09:30:00.000Z'

const audience = {
  matching: 1,
  unsubscribed: 0,
  suppressed: 0,
  willReceive: 1,
  unsubscribedRecipients: 0,
  sample: [{ id: '0199a7c0-0000-7000-8000-000000000003', email: 'ann@example.org' }],
  asOf: '2026-11-22T09:30:00.000Z',
}

export const campaignExamples: Examples = {
  'POST /campaigns': {
    request: {
      name: 'Winter',
      subject: 'Hello {{ name }}',
      body: '<p>Hello {{ name }}, spring is here.</p>',
      from: 'hello@example.test',
      audienceType: 'ALL',
      maxPerHour: 10_000,
    },
    status: 201,
    response: { success: true, data: { ...winter, description: null } },
  },
  'GET /campaigns/:id': {
    params,
    status: 200,
    response: { success: true, data: { ...winter, description: null, limitedUntil: null } },
  },
  'PUT /campaigns/:id': {
    params,
    request: { description: 'To everybody' },
    status: 200,
    response: { success: true, data: { ...winter, version: 2 } },
  },
  'GET /campaigns': {
    query: { page: '1', pageSize: '20', status: 'DRAFT', search: 'winter' },
    status: 200,
    response: {
      data: [{ ...winter, version: 2, limitedUntil: null }],
      total: 1,
      page: 1,
      pageSize: 20,
      totalPages: 1,
      cursor: null,
      hasMore: false,
      archivedCount: 0,
    },
  },
  'POST /campaigns/audience': {
    request: { audienceType: 'ALL', type: 'TRANSACTIONAL' },
    status: 200,
    response: audience,
  },
  'GET /campaigns/:id/audience': {
    params,
    status: 200,
    response: audience,
  },
  'POST /campaigns/:id/duplicate': {
    params,
    status: 201,
    response: { success: true, data: copy },
  },
  'POST /campaigns/:id/archive': {
    params: { id: copy.id },
    status: 200,
    response: { success: true, data: { ...copy, archived: true, archivedAt } },
  },
  'POST /campaigns/:id/unarchive': {
    params: { id: copy.id },
    status: 200,
    response: { success: true, data: copy },
  },
  'POST /campaigns/bulk-update': {
    request: { ids: [copy.id], delete: true },
    status: 200,
    response: { deleted: 1 },
  },
  'DELETE /campaigns/:id': {
    params,
    status: 200,
    response: { success: true, message: 'The campaign was deleted.' },
  },
}
