/** Checks and tests of a campaign before it is sent. */
import { z } from 'zod'
import { formatInstant } from '../../../base/clock.ts'
import { checkCampaign } from '../../../features/outreach/campaigns/check/check.ts'
import { sendTest } from '../../../features/outreach/campaigns/send-test.ts'
import { emailAddress, id, instant } from '../../../records/fields.ts'
import { findings } from '../../../records/findings.ts'
import { MAX_TEST_ADDRESSES } from '../../../records/limits.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { uuidKeyOf } from '../../uuid-key.ts'
import * as examples from './examples.ts'

const shared = { tag: 'Campaigns' } as const

const testRequest = z
  .object({
    email: emailAddress.optional(),
    emails: z.array(emailAddress).min(1).max(MAX_TEST_ADDRESSES).optional().meta({
      description: 'In place of `email`; an address that occurs twice gets one email',
    }),
    contactId: id.optional().meta({
      description:
        "The contact to render as; by default the address' own, and for an address without data the first contact of the audience",
    }),
  })
  .superRefine(({ email, emails }, context) => {
    if ((email === undefined) !== (emails === undefined)) return
    const message = 'Exactly one of email and emails is required'
    context.addIssue({ code: 'custom', path: ['email'], message })
  })
  .transform(({ email, emails, contactId }) => ({
    addresses: emails ?? (email === undefined ? [] : [email]),
    contactId,
  }))

/** The names that other services use for the addresses of a test. */
const TEST_NAMES = {
  aliases: {
    to: 'email',
    address: 'email',
    recipient: 'email',
    recipients: 'emails',
    addresses: 'emails',
    subscribers: 'emails',
    testEmails: 'emails',
  },
}

const testResponse = z.object({
  success: z.literal(true),
  data: z.object({
    emails: z.array(
      z.object({
        contact: z.object({ id: z.string(), email: z.string() }),
        email: z.string().meta({ description: 'The id of the email' }),
      }),
    ),
    timestamp: instant,
  }),
  message: z.string(),
})

export const test = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Send a test of a campaign',
    description:
      'The subject begins with "[TEST]", and the message has the header `X-Pillarbox-Test: 1`. A test ' +
      'is never tracked and counts for no campaign. It goes to unsubscribed contacts too, and from a ' +
      'campaign in any status. With a suppressed address nothing is sent. An unknown address becomes ' +
      'a contact, as in a send. Tests count for the limits of the project by the month (402).',
    names: TEST_NAMES,
    body: testRequest,
    responses: { 200: { description: 'Accepted: stored and queued', schema: testResponse } },
    refusals: [400, 402, 403, 404],
    example: examples.test,
    handle: async (call) => {
      const request = { campaignId: uuidKeyOf(call).id, ...call.body }
      const { emails, at } = await sendTest(core, call.project, request)
      const sent = emails.map(({ id: email, contactId, recipient }) => ({
        contact: { id: contactId, email: recipient },
        email,
      }))
      const to = sent.length === 1 ? sent[0]?.contact.email : `${sent.length} addresses`
      const data = { emails: sent, timestamp: formatInstant(at) }
      return json(200, { success: true, data, message: `The test was sent to ${to}.` })
    },
  })

export const check = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    isRead: true,
    summary: 'Check a campaign before it is sent',
    answerBytes: RECORD_ANSWER_BYTES,
    description:
      'Renders the campaign for ten of its recipients and looks at the sender, the audience and the ' +
      'texts. `unsubscribed_recipients` counts unsubscribed contacts that a TRANSACTIONAL campaign ' +
      'reaches. A check blocks nothing: `error` marks what a send would refuse, or what would reach ' +
      'nobody.',
    responses: { 200: { description: 'What to mend, errors first', schema: findings } },
    refusals: [404],
    example: examples.check,
    handle: async (call) =>
      largeJson(200, await checkCampaign(core, call.project, uuidKeyOf(call).id)),
  })
