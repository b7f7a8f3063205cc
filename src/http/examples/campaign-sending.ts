import { campaignExample as campaign } from './campaign.ts'
import type { Examples } from './operation-example.ts'

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
