/** Examples of the operations that stop a campaign on its way, and let it go on. */
import type { Examples } from './operation-example.ts'

const campaign = {
  id: '0199a7c0-0000-7000-8000-000000000061',
  name: 'Spring',
  description: null,
  subject: 'Hello',
  body: '<p>Hello</p>',
  from: 'shop@example.test',
  fromName: null,
  replyTo: null,
  type: 'MARKETING',
  audienceType: 'ALL',
  audienceCondition: null,
  audienceFilter: null,
  segmentId: null,
  segment: null,
  templateId: null,
  status: 'SENDING',
  scheduledFor: null,
  scheduledAt: null,
  maxPerHour: null,
  version: 1,
  totalRecipients: 0,
  sentCount: 0,
  deliveredCount: 0,
  openedCount: 0,
  clickedCount: 0,
  bouncedCount: 0,
  complainedCount: 0,
  unsubscribedCount: 0,
  pausedAt: null,
  pauseReason: null,
  pauseDetails: null,
  estimatedEndAt: null,
  archived: false,
  archivedAt: null,
  projectId: '0199a7c0-0000-7000-8000-000000000001',
  sentAt: null,
  createdAt: '2026-11-22T09:30:00.000Z',
  updatedAt: '2026-11-22T09:30:00.000Z',
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
    status: 200,
    response: { success: true, retried: 0, data: { retried: 0 } },
  },
  'POST /campaigns/:id/cancel': {
    params,
    status: 200,
    response: { success: true, data: { ...campaign, status: 'CANCELLED' } },
  },
}
