/** `POST /webhooks/sns`: what a relay through Amazon SES tells of its mail (contract 7.4). */
import { AppError } from '../../errors.ts'
import type { Core } from '../../features/core.ts'
import { createSnsReceiver } from '../../features/sns/receive.ts'
import { json, openRoute, type Route } from '../route.ts'

/** SNS sends 256 KB at most, and quotes them: each quotation mark of a message takes one more. */
const MAX_BYTES = 512 * 1024

export function webhookRoutes(core: Core): Route[] {
  const sns = createSnsReceiver(core)
  return [
    openRoute({
      method: 'POST',
      path: '/webhooks/sns',
      growsDisk: true,
      permission: 'none',
      // Amazon calls it, not clients.
      isHidden: true,
      isUnlogged: true,
      tag: 'Service',
      summary: 'Notifications of Amazon SNS, of the topics in `sns.topic_arns`',
      responses: { 200: { description: 'Taken' } },
      // Read here: SNS says text/plain, and nobody may send more than it does.
      handle: async ({ readJson }) => {
        if (!sns.isOpen) {
          throw new AppError('FORBIDDEN', 'No topic is believed here.', {
            suggestion: 'The operator of this server lists topics in sns.topic_arns.',
          })
        }
        await sns.receive(await readJson(MAX_BYTES))
        return json(200, { success: true })
      },
    }),
  ]
}
