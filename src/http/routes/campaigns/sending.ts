/** Sending of campaigns. */
import { z } from 'zod'
import { sendCampaign } from '../../../features/outreach/campaigns/sending/send.ts'
import { campaignResponse } from '../../../records/campaign.ts'
import { schedule } from '../../../records/campaign-request.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { uuidKeyOf } from '../../uuid-key.ts'
import * as examples from './examples.ts'
import { warnOfUnsubscribed } from './transactional.ts'

const shared = { tag: 'Campaigns' } as const

export const send = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Send or schedule a campaign',
    description:
      'Each contact of the audience that exists now gets one email. A scheduled campaign goes to the ' +
      'audience of its time, and can be scheduled again or sent at once. While a limit of the project ' +
      'by the month is reached, it cannot be sent at once (402). `warnings` says how many unsubscribed ' +
      'contacts get a TRANSACTIONAL campaign.',
    // A time in the query must not be ignored: the campaign would be sent at once.
    query: z.strictObject({}),
    answerBytes: RECORD_ANSWER_BYTES,
    names: { aliases: { sendAt: 'scheduledFor', date: 'scheduledFor', schedule: 'scheduledFor' } },
    body: schedule.optional(),
    responses: {
      200: { description: 'The campaign is SENDING or SCHEDULED', schema: campaignResponse },
    },
    refusals: [400, 402, 403, 404, 409],
    example: examples.send,
    handle: async (call) => {
      const sent = await sendCampaign(core, uuidKeyOf(call), call.body)
      const { campaign, message, unsubscribedRecipients: unsubscribed } = sent
      warnOfUnsubscribed(campaign, { warn: call.warn, unsubscribed })
      return largeJson(200, { success: true, data: campaign, message })
    },
  })
