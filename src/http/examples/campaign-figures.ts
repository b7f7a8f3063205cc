/** Examples of what became of a campaign. */
import { campaignExample } from '../../records/campaign.ts'
import type { Examples } from './operation-example.ts'

const params = { id: campaignExample.id }

export const campaignFiguresExamples: Examples = {
  'GET /campaigns/:id/stats': {
    params,
    status: 200,
    response: {
      success: true,
      data: {
        totalRecipients: 0,
        sentCount: 0,
        deliveredCount: 0,
        openedCount: 0,
        clickedCount: 0,
        bouncedCount: 0,
        complainedCount: 0,
        unsubscribedCount: 0,
        failedCount: 0,
        openRate: 0,
        clickRate: 0,
        bounceRate: 0,
        deliveryRate: 0,
        complaintRate: 0,
        unsubscribeRate: 0,
        skipped: { suppressed: 0, unsubscribed: 0, deleted: 0 },
        pending: 0,
        deferred: 0,
        machineOpens: 0,
        machineClicks: 0,
      },
    },
  },
  'GET /campaigns/:id/recipients': {
    params,
    query: { outcome: 'bounced' },
    status: 200,
    response: { data: [], cursor: null, hasMore: false, total: 0 },
  },
  'GET /campaigns/:id/recipients/export': {
    params,
    status: 200,
    response: 'emailId,contactId,email,occurredAt,status,reason,openedAt,clickedAt,clicks\r\n',
  },
  'GET /campaigns/:id/links': {
    params,
    status: 200,
    response: [],
  },
}
