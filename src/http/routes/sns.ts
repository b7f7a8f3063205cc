/** `POST /webhooks/sns`: Amazon SNS notifications about mail that was relayed through SES. */
import { z } from 'zod'
import { AppError } from '../../base/errors.ts'
import { createSnsReceiver } from '../../features/incoming/sns/receive.ts'
import { json } from '../response.ts'
import { openOperation, type RouteDeps } from '../route.ts'

/** SNS sends at most 256 KB, and JSON escapes each quotation mark in the quoted message. */
const MAX_BYTES = 512 * 1024

/** The fields that SNS signs; see its documentation, "Parsing message formats". */
const notification = z
  .object({
    Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
    MessageId: z.string(),
    TopicArn: z.string(),
    Message: z.string().meta({ description: 'The event of SES, as JSON text' }),
    Timestamp: z.string(),
    SignatureVersion: z.string(),
    Signature: z.string(),
    SigningCertURL: z.string(),
  })
  .meta({ id: 'SnsNotification' })

export const receive = ({ core }: RouteDeps) => {
  const sns = createSnsReceiver(core)
  return openOperation({
    growsDisk: true,
    isUnlogged: true,
    tag: 'Service',
    summary: 'Receive notifications from Amazon SNS for the topics in `sns.topic_arns`',
    description: 'Amazon calls this route; clients of the API do not.',
    // SNS sends JSON as text/plain, with its own limit.
    readsJson: notification,
    responses: {
      200: { description: 'Accepted', schema: z.object({ success: z.literal(true) }) },
    },
    refusals: [403, 404],
    handle: async ({ readJson }) => {
      if (!sns.isOpen) {
        throw new AppError('FORBIDDEN', 'This server accepts no SNS topics.', {
          suggestion: 'The operator of this server lists accepted topics in sns.topic_arns.',
        })
      }
      await sns.receive(await readJson(MAX_BYTES))
      return json(200, { success: true })
    },
  })
}
