/** Confirms the subscription to a listed topic by fetching the URL that SNS sent for it. */
import { AppError } from '../../../base/errors.ts'
import type { Base } from '../../ground/base.ts'
import type { SnsMessage } from './message.ts'
import { isProcessed, processOnce } from './processed-messages.ts'
import { untrusted } from './untrusted.ts'
import { parseSubscribeUrl } from './urls.ts'

/** @throws AppError FORBIDDEN, EXTERNAL_SERVICE_ERROR */
export async function confirmSubscription(
  deps: Pick<Base, 'publicFetch' | 'store' | 'now' | 'log'>,
  { subscribeUrl, topicArn, messageId }: SnsMessage,
): Promise<void> {
  const url = parseSubscribeUrl(subscribeUrl ?? '', topicArn)
  if (url === undefined) throw untrusted('the URL does not confirm a subscription to this topic')
  if (await isProcessed(deps, messageId)) return
  const response = await deps.publicFetch(url)
  if (!response.ok && response.isRefused) throw untrusted(response.error)
  if (!response.ok || response.status !== 200) {
    const cause = new Error(
      response.ok ? `the response of SNS is ${response.status}` : response.error,
    )
    throw new AppError('EXTERNAL_SERVICE_ERROR', 'The subscription could not be confirmed.', {
      cause,
    })
  }
  await processOnce(deps, messageId, async () => undefined)
  deps.log.info({ topicArn }, 'subscribed to a topic of SNS')
}
