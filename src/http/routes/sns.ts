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
    // The handler reads the body itself: SNS sends JSON as text/plain, and its body has a limit of
    // its own.
    readsJson: notification,
    responses: {
      200: { description: 'Accepted', schema: z.object({ success: z.literal(true) }) },
    },
    refusals: [403, 404],
    example: () => ({
      request: {
        Type: 'Notification',
        MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
        TopicArn: 'arn:aws:sns:eu-west-1:123456789012:mail',
        Message: '{}',
        Timestamp: '2026-11-22T09:30:00.000Z',
        SignatureVersion: '1',
        Signature:
          'EXAMPLEpH+DcEwjAPg8O9mY8dReBSwksfg2S7WKQcikcNKWLQjwu6A4VbeS0QHVCkhRS7fUQvi2egU3N858fiTDN6bkkOxYDVrY0Ad8L10Hs3zH81mtnPk5uvvolIC1CXGu43obcgFxeL3khZl8IKvO61GWB6jI9b5+gLPoBc1Q=',
        SigningCertURL:
          'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
      },
      status: 200,
      response: { success: true },
    }),
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
