/** Examples of the operations on campaigns: composing, sending, stopping. */
import { campaignExample as campaign, campaignExample } from '../../records/campaign.ts'
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

/** The first day of the month after next: a campaign is scheduled for a time to come. */
const [year, month] = [new Date().getUTCFullYear(), new Date().getUTCMonth()]
const scheduledFor = new Date(Date.UTC(year, month + 2, 1, 9)).toISOString()
const day = scheduledFor.slice(0, 10)

const running = {
  ...campaignExample,
  id: '0199a7c0-0000-7000-8000-000000000061',
  subject: 'Hello',
  body: '<p>Hello</p>',
  from: 'shop@example.test',
  status: 'SENDING',
}

const runningParams = { id: running.id }

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
  'POST /render': {
    request: {
      subject: 'Your order {{ order }}',
      body: '<table><tr><td>Thank you, {{ name }}.</td></tr></table>',
      type: 'TRANSACTIONAL',
      data: { name: 'Ann', order: 'A-7' },
    },
    status: 200,
    response: {
      subject: 'Your order A-7',
      html: '<table><tr><td>Thank you, Ann.</td></tr></table>',
      text: 'Thank you, Ann.',
      sizeBytes: 48,
      warnings: [],
      unknownFields: [],
    },
  },
  'POST /campaigns/:id/check': {
    params: { id: '0199a7c0-0000-7000-8000-000000000030' },
    status: 200,
    response: {
      findings: [
        {
          code: 'loopback_link',
          severity: 'warning',
          message: '1 link to this machine, which no recipient can open: http://localhost:…',
          fix: 'Set `base_url` to the public address of the server, and use public addresses in the text.',
        },
        {
          code: 'everybody',
          severity: 'info',
          message:
            'The audience is everybody: the campaign goes to the only contact that can get it.',
          fix: 'If it is meant for some of them, set audienceType to SEGMENT or FILTERED.',
        },
      ],
    },
  },
  'POST /campaigns/:id/test': {
    params: { id: '0199a7c0-0000-7000-8000-000000000033' },
    request: {
      emails: ['editor@example.org'],
      contactId: '0199a7c0-0000-7000-8000-000000000003',
    },
    status: 200,
    response: {
      success: true,
      data: {
        emails: [
          {
            contact: { id: '0199a7c0-0000-7000-8000-000000000034', email: 'editor@example.org' },
            email: '0199a7c0-0000-7000-8000-000000000035',
          },
        ],
        timestamp: '2026-11-22T09:30:00.000Z',
      },
      message: 'The test was sent to editor@example.org.',
    },
  },
  'POST /campaigns/:id/send': {
    params: { id: campaign.id },
    request: { scheduledFor: `${day}T10:00:00+01:00` },
    status: 200,
    response: {
      success: true,
      data: { ...campaign, status: 'SCHEDULED', scheduledFor, scheduledAt: scheduledFor },
      message: `The campaign will be sent at ${day} 09:00:00Z.`,
    },
  },
  'POST /campaigns/:id/pause': {
    params: runningParams,
    status: 200,
    response: {
      success: true,
      data: { ...running, pausedAt: '2026-11-22T09:40:00.000Z', pauseReason: 'manual' },
    },
  },
  'POST /campaigns/:id/resume': {
    params: runningParams,
    status: 200,
    response: { success: true, data: running },
  },
  'POST /campaigns/:id/retry-failed': {
    params: runningParams,
    request: {},
    status: 200,
    response: { success: true, retried: 0, data: { retried: 0 } },
  },
  'POST /campaigns/:id/cancel': {
    params: runningParams,
    status: 200,
    response: { success: true, data: { ...running, status: 'CANCELLED' } },
  },
}
