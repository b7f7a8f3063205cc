/** Confirming the subscription to a listed topic, by asking the address that SNS gave for it. */
import { AppError } from '../../errors.ts'
import type { Base } from '../base.ts'
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
  if (url === undefined) throw untrusted('the address confirms no subscription to this topic')
  if (await isProcessed(deps, messageId)) return
  const answer = await deps.publicFetch(url)
  if (!answer.ok && answer.isRefused) throw untrusted(answer.error)
  if (!answer.ok || answer.status !== 200) {
    const cause = new Error(answer.ok ? `SNS answered ${answer.status}` : answer.error)
    throw new AppError('EXTERNAL_SERVICE_ERROR', 'The subscription could not be confirmed.', {
      cause,
    })
  }
  await processOnce(deps, messageId, async () => undefined)
  deps.log.info({ topicArn }, 'subscribed to a topic of SNS')
}
