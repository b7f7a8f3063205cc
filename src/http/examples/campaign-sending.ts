import { campaignExample as campaign } from '../../records/campaign.ts'
import type { Examples } from './operation-example.ts'

/** The first day of the month after next: a campaign is scheduled for a time to come. */
const [year, month] = [new Date().getUTCFullYear(), new Date().getUTCMonth()]
const scheduledFor = new Date(Date.UTC(year, month + 2, 1, 9)).toISOString()
const day = scheduledFor.slice(0, 10)

export const campaignSendingExamples: Examples = {
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
}
