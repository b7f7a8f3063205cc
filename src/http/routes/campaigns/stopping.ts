/** Calls that pause, resume or cancel a campaign, or retry its failed mail. */
import { z } from 'zod'
import { retryFailed } from '../../../features/outreach/campaigns/retry-failed.ts'
import {
  cancelCampaign,
  pauseCampaign,
  resumeCampaign,
} from '../../../features/outreach/campaigns/stopping.ts'
import { campaignResponse } from '../../../records/campaign.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { uuidKeyOf } from '../../uuid-key.ts'
import * as examples from './examples.ts'

const retried = z.object({
  success: z.literal(true),
  retried: z.int(),
  data: z.object({ retried: z.int() }),
})

const shared = { tag: 'Campaigns', refusals: [400, 404] } as const

export const pause = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    growsDisk: false,
    summary: 'Pause the sending of a campaign',
    description:
      'The status stays SENDING. Mail that is already on its way is delivered; the rest waits, and ' +
      'its give-up time moves with the pause. A campaign that is paused already stays as it is.',
    answerBytes: RECORD_ANSWER_BYTES,
    responses: { 200: { description: 'The campaign', schema: campaignResponse } },
    example: examples.pause,
    handle: async (call) => {
      const data = await pauseCampaign(core, uuidKeyOf(call), { reason: 'manual' })
      return largeJson(200, { success: true, data })
    },
  })

export const resume = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Resume a paused campaign',
    description:
      'A campaign that is not paused stays as it is. Without a verified sender domain a campaign ' +
      'cannot be resumed (403), nor with emails to make while a limit of the project by the month is ' +
      'reached (402).',
    refusals: [400, 402, 403, 404],
    answerBytes: RECORD_ANSWER_BYTES,
    responses: { 200: { description: 'The campaign', schema: campaignResponse } },
    example: examples.resume,
    handle: async (call) => {
      const data = await resumeCampaign(core, uuidKeyOf(call))
      return largeJson(200, { success: true, data })
    },
  })

export const cancel = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    growsDisk: false,
    summary: 'Cancel a campaign that is scheduled or being sent',
    description:
      'Contacts that it has not reached get no email. Mail that waits becomes FAILED with the ' +
      'error `cancelled`, shortly after the answer.',
    answerBytes: RECORD_ANSWER_BYTES,
    responses: { 200: { description: 'The campaign', schema: campaignResponse } },
    example: examples.cancel,
    handle: async (call) => {
      const data = await cancelCampaign(core, uuidKeyOf(call))
      return largeJson(200, { success: true, data })
    },
  })

export const retry = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Try the failed emails of a campaign again',
    description:
      'Except those that were cancelled, whose contact has unsubscribed, or whose content was ' +
      'cleared by retention. They count for the limits of the project again; those that are over a ' +
      'limit stay failed. A campaign that was sent keeps its status. Nothing in the query or the body ' +
      'selects some of them: such names are refused.',
    query: z.strictObject({}),
    body: z.strictObject({}).optional(),
    refusals: [400, 402, 403, 404],
    responses: { 200: { description: 'The number of emails', schema: retried } },
    example: examples.retry,
    handle: async (call) => {
      const count = await retryFailed(core, uuidKeyOf(call))
      return json(200, { success: true, retried: count, data: { retried: count } })
    },
  })
