import type { Examples } from './operation-example.ts'

const campaign = {
  id: '0199a7c0-0000-7000-8000-000000000030',
  name: 'Spring',
  description: null,
  subject: 'Hello {{ name }}',
  body: '<p>Hello {{ name }}, spring is here.</p>',
  from: 'news@example.com',
  fromName: null,
  replyTo: null,
  type: 'MARKETING',
  audienceType: 'ALL',
  audienceCondition: null,
  audienceFilter: null,
  segmentId: null,
  segment: null,
  templateId: null,
  status: 'DRAFT',
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

const scheduledFor = '2026-12-01T09:00:00.000Z'

export const campaignSendingExamples: Examples = {
  'POST /campaigns/:id/send': {
    params: { id: campaign.id },
    request: { scheduledFor: '2026-12-01T10:00:00+01:00' },
    status: 200,
    response: {
      success: true,
      data: { ...campaign, status: 'SCHEDULED', scheduledFor, scheduledAt: scheduledFor },
      message: 'The campaign will be sent at 2026-12-01 09:00:00Z.',
    },
  },
}
