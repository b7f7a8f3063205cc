/** `POST /webhooks/sns`: Amazon SNS notifications about mail that was relayed through SES. */
import { AppError } from '../../errors.ts'
import { createSnsReceiver } from '../../features/sns/receive.ts'
import { json } from '../response.ts'
import { openOperation, type RouteDeps } from '../route.ts'

/** SNS sends at most 256 KB, and JSON escapes each quotation mark in the quoted message. */
const MAX_BYTES = 512 * 1024

export const receive = ({ core }: RouteDeps) => {
  const sns = createSnsReceiver(core)
  return openOperation({
    growsDisk: true,
    // Amazon calls this route; clients of the API do not.
    isHidden: true,
    isUnlogged: true,
    tag: 'Service',
    summary: 'Receive notifications from Amazon SNS for the topics in `sns.topic_arns`',
    responses: { 200: { description: 'Accepted' } },
    // The handler reads the body: SNS sends JSON as text/plain, with its own limit.
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
