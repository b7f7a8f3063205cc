/** Examples of the operations on campaigns. All have the ids of one campaign, its copy, and one that runs. */
import { campaignExample as campaign } from '../../../records/campaign.ts'
import type { OperationExample } from '../../route-docs.ts'

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

const [year, month] = [new Date().getUTCFullYear(), new Date().getUTCMonth()]
const scheduledFor = new Date(Date.UTC(year, month + 2, 1, 9)).toISOString()
const day = scheduledFor.slice(0, 10)
const running = {
  ...campaign,
  id: '0199a7c0-0000-7000-8000-000000000061',
  subject: 'Hello',
  body: '<p>Hello</p>',
  from: 'shop@example.test',
  status: 'SENDING',
}
const runningParams = { id: running.id }

export const create = (): OperationExample => ({
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
})

export const get = (): OperationExample => ({
  params,
  status: 200,
  response: { success: true, data: { ...winter, description: null, limitedUntil: null } },
})

export const update = (): OperationExample => ({
  params,
  request: { description: 'To everybody' },
  status: 200,
  response: { success: true, data: { ...winter, version: 2 } },
})

export const list = (): OperationExample => ({
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
})

export const countAudience = (): OperationExample => ({
  request: { audienceType: 'ALL', type: 'TRANSACTIONAL' },
  status: 200,
  response: audience,
})

export const showAudience = (): OperationExample => ({ params, status: 200, response: audience })

export const duplicate = (): OperationExample => ({
  params,
  status: 201,
  response: { success: true, data: copy },
})

export const archive = (): OperationExample => ({
  params: { id: copy.id },
  status: 200,
  response: { success: true, data: { ...copy, archived: true, archivedAt } },
})

export const unarchive = (): OperationExample => ({
  params: { id: copy.id },
  status: 200,
  response: { success: true, data: copy },
})

export const bulkUpdate = (): OperationExample => ({
  request: { ids: [copy.id], delete: true },
  status: 200,
  response: { deleted: 1 },
})

export const remove = (): OperationExample => ({
  params,
  status: 200,
  response: { success: true, message: 'The campaign was deleted.' },
})

export const check = (): OperationExample => ({
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
})

export const test = (): OperationExample => ({
  params: { id: '0199a7c0-0000-7000-8000-000000000033' },
  request: { emails: ['editor@example.org'], contactId: '0199a7c0-0000-7000-8000-000000000003' },
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
})

export const send = (): OperationExample => ({
  params: { id: campaign.id },
  request: { scheduledFor: `${day}T10:00:00+01:00` },
  status: 200,
  response: {
    success: true,
    data: { ...campaign, status: 'SCHEDULED', scheduledFor, scheduledAt: scheduledFor },
    message: `The campaign will be sent at ${day} 09:00:00Z.`,
  },
})

export const pause = (): OperationExample => ({
  params: runningParams,
  status: 200,
  response: {
    success: true,
    data: { ...running, pausedAt: '2026-11-22T09:40:00.000Z', pauseReason: 'manual' },
  },
})

export const resume = (): OperationExample => ({
  params: runningParams,
  status: 200,
  response: { success: true, data: running },
})

export const retry = (): OperationExample => ({
  params: runningParams,
  request: {},
  status: 200,
  response: { success: true, retried: 0, data: { retried: 0 } },
})

export const cancel = (): OperationExample => ({
  params: runningParams,
  status: 200,
  response: { success: true, data: { ...running, status: 'CANCELLED' } },
})
