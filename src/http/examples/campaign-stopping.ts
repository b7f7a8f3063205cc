/** Examples of the operations that stop a campaign on its way, and let it go on. */
import { campaignExample } from '../../records/campaign.ts'
import type { Examples } from './operation-example.ts'

const campaign = {
  ...campaignExample,
  id: '0199a7c0-0000-7000-8000-000000000061',
  subject: 'Hello',
  body: '<p>Hello</p>',
  from: 'shop@example.test',
  status: 'SENDING',
}

const params = { id: campaign.id }

export const campaignStoppingExamples: Examples = {
  'POST /campaigns/:id/pause': {
    params,
    status: 200,
    response: {
      success: true,
      data: { ...campaign, pausedAt: '2026-11-22T09:40:00.000Z', pauseReason: 'manual' },
    },
  },
  'POST /campaigns/:id/resume': {
    params,
    status: 200,
    response: { success: true, data: campaign },
  },
  'POST /campaigns/:id/retry-failed': {
    params,
    request: {},
    status: 200,
    response: { success: true, retried: 0, data: { retried: 0 } },
  },
  'POST /campaigns/:id/cancel': {
    params,
    status: 200,
    response: { success: true, data: { ...campaign, status: 'CANCELLED' } },
  },
}
