/**
 * One message of SNS (contract 7.4): nothing in it is believed before its topic is one of
 * `sns.topic_arns`, its age is that of a notification still being delivered, and its signature holds.
 *
 * | then                                   | answer                                                |
 * |----------------------------------------|-------------------------------------------------------|
 * | not believed                           | FORBIDDEN; SNS does not come again                    |
 * | the certificate cannot be had now      | EXTERNAL_SERVICE_ERROR; SNS comes again               |
 * | confirmation of a subscription         | its address is asked, then done                       |
 * | of an email, which is found            | its outcome and the notification's id are written     |
 * |   the same notification again          | done, nothing is written                              |
 * |   no message id, no such email         | BAD_REQUEST, RESOURCE_NOT_FOUND                       |
 * |   delivered, and we still send it      | EXTERNAL_SERVICE_ERROR; SNS comes again               |
 * | received mail for a domain of ours     | kept as if it had come by SMTP                        |
 * | of no concern, or not to be understood | done; SNS would only bring the same again             |
 * | the database cannot be written         | DATABASE_ERROR; SNS comes again                       |
 *
 * SNS tries for at most an hour (its "message delivery retries").
 */

import { verify } from 'node:crypto'
import { HOUR_MS, MINUTE_MS } from '../../clock.ts'
import { AppError, describeError, notFound } from '../../errors.ts'
import type { Base } from '../base.ts'
import { recordReports } from '../messages/outcome/record-reports.ts'
import { recordHits } from '../tracking/record-hits.ts'
import { acceptReceivedMail } from './accept-mail.ts'
import { type Certificates, createCertificates } from './certificates.ts'
import { confirmSubscription } from './confirm-subscription.ts'
import { findReportedEmail } from './find-email.ts'
import { parseSnsMessage, type SnsMessage, signedText } from './message.ts'
import { readNotification } from './notification.ts'
import { processOnce } from './processed-messages.ts'
import { toReportsAndHits } from './to-reports.ts'
import { untrusted } from './untrusted.ts'
import { parseCertificateUrl } from './urls.ts'

export type SnsDeps = Pick<
  Base,
  'config' | 'store' | 'inboundNotifier' | 'counters' | 'now' | 'log' | 'publicFetch'
>

export type SnsReceiver = {
  /** Whether any topic is believed. */
  isOpen: boolean
  /** `body`: parsed JSON. Resolves when SNS may forget the message. @throws AppError, see above */
  receive(body: unknown): Promise<void>
}

/** An hour of tries, and as much for what SNS itself held back. */
const MAX_AGE_MS = 2 * HOUR_MS
const MAX_AHEAD_MS = 15 * MINUTE_MS

export function createSnsReceiver(deps: SnsDeps): SnsReceiver {
  const certificates = createCertificates(deps)
  return {
    isOpen: deps.config.sns.topicArns.length > 0,
    async receive(body) {
      const message = parseSnsMessage(body)
      if (message === undefined) throw untrusted('it is no message of SNS')
      await logRefusal(deps, message, async () => {
        await authenticate(deps, certificates, message)
        await act(deps, message)
      })
    },
  }
}

/** @throws AppError FORBIDDEN, EXTERNAL_SERVICE_ERROR */
async function authenticate(
  { config, now }: SnsDeps,
  certificates: Certificates,
  message: SnsMessage,
): Promise<void> {
  const { topicArn, at, signatureVersion, signature, signingCertUrl } = message
  if (!config.sns.topicArns.includes(topicArn)) throw untrusted('the topic is not listed')
  const ageMs = now() - at
  if (ageMs > MAX_AGE_MS || ageMs < -MAX_AHEAD_MS) throw untrusted('it is not of this time')
  const url = parseCertificateUrl(signingCertUrl)
  if (url === undefined) throw untrusted('the certificate is not at a host of SNS')
  const { publicKey } = await certificates.get(url)
  const algorithm = signatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256'
  const signed = Buffer.from(signedText(message))
  if (!verify(algorithm, signed, publicKey, Buffer.from(signature, 'base64'))) {
    throw untrusted('the signature does not hold')
  }
}

async function act(deps: SnsDeps, message: SnsMessage): Promise<void> {
  switch (message.type) {
    case 'SubscriptionConfirmation':
      return confirmSubscription(deps, message)
    case 'UnsubscribeConfirmation':
      deps.log.warn({ topicArn: message.topicArn }, 'the subscription to a topic of SNS has ended')
      return
    case 'Notification':
      return acknowledgeFaults(deps, message, () => takeNotification(deps, message))
  }
}

/** @throws AppError BAD_REQUEST, RESOURCE_NOT_FOUND, EXTERNAL_SERVICE_ERROR, DATABASE_ERROR */
async function takeNotification(deps: SnsDeps, { message, messageId }: SnsMessage): Promise<void> {
  const notification = readNotification(message)
  if (notification === undefined) return tellIgnored(deps, messageId, 'it is of no concern')
  if (notification.kind === 'received') {
    const isOurs = await acceptReceivedMail(deps, notification, messageId)
    return isOurs ? undefined : tellIgnored(deps, messageId, 'no recipient is of a domain of ours')
  }
  const { providerIds, messageIds } = notification.ids
  if (providerIds.length + messageIds.length === 0) {
    throw new AppError('BAD_REQUEST', 'The notification names no message.')
  }
  const email = await findReportedEmail(deps, notification.ids)
  if (email === undefined) {
    const id = [...messageIds, ...providerIds][0] ?? ''
    throw notFound('email', id, 'There is no such email.')
  }
  if (notification.kind === 'delivery' && email.state === 'sending') {
    throw new AppError('EXTERNAL_SERVICE_ERROR', 'The email is still being handed over.')
  }
  const { reports, hits } = toReportsAndHits(notification, email, deps.now())
  await processOnce(deps, messageId, async (tx) => {
    await recordReports(deps, tx, reports)
    await recordHits(deps, tx, hits)
  })
}

/** What fails again however often it comes is acknowledged; whoever runs the server reads of it. */
async function acknowledgeFaults(
  { log }: SnsDeps,
  { messageId }: SnsMessage,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof AppError) throw error
    log.error({ messageId, error }, 'a notification could not be processed')
  }
}

function tellIgnored({ log }: SnsDeps, messageId: string, why: string): void {
  log.info({ messageId, why }, 'a notification was ignored')
}

async function logRefusal(
  { log }: SnsDeps,
  message: SnsMessage,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    const why = describeError(error instanceof Error ? (error.cause ?? error) : error)
    const topicArn = message.topicArn.slice(0, 300)
    log.warn(
      { topicArn, messageId: message.messageId.slice(0, 100), why },
      'a notification was refused',
    )
    throw error
  }
}
