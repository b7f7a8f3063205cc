/**
 * Receives one message of SNS (`POST /webhooks/sns`). A message is trusted when its topic is one of
 * `sns.topic_arns`, it is recent, and its signature is valid.
 *
 * | message                                | result                                                |
 * |----------------------------------------|-------------------------------------------------------|
 * | not trusted                            | FORBIDDEN; SNS does not try again                     |
 * | its certificate cannot be fetched      | EXTERNAL_SERVICE_ERROR; SNS tries again               |
 * | confirmation of a subscription         | success, after its URL was fetched                    |
 * | about an email that is found           | success; its outcome and the message's id are written |
 * |   a repeated message                   | success; nothing is written                           |
 * |   no message id, or no such email      | BAD_REQUEST, RESOURCE_NOT_FOUND                       |
 * |   complaint, and the email was deleted | success; the wish of the recipient is written         |
 * |   delivery, while it is still sent     | EXTERNAL_SERVICE_ERROR; SNS tries again               |
 * | received mail for a verified domain    | success; it is accepted like mail by SMTP             |
 * | of another kind, or malformed          | success, because a retry would change nothing         |
 * | any, and the database cannot write     | DATABASE_ERROR; SNS tries again                       |
 *
 * SNS tries for at most an hour (AWS: "message delivery retries").
 */
import { AppError, describeError, notFound } from '../../../base/errors.ts'
import { type ParsedAddress, parseAddress } from '../../../formats/address/address.ts'
import { and, eq } from '../../../store/drizzle.ts'
import { domains } from '../../../store/schema/domains.ts'
import type { InboundRecipient } from '../../../store/schema/json-values.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { recordReports } from '../../mail/messages/outcome/record-reports.ts'
import { recordHits } from '../../mail/tracking/record-hits.ts'
import { applySubscriptionRequest } from '../../people/contacts/write/subscription-request.ts'
import { insertInboundMessage } from '../receiving/accept/accept-message.ts'
import { readSigned } from '../receiving/accept/admit-recipient.ts'
import { MailboxFull } from '../receiving/limits.ts'
import { createAuthentication } from './authenticate.ts'
import { findReportedEmail, findWish, type ReportedWish } from './find-email.ts'
import { parseSnsMessage, parseSubscribeUrl, type SnsMessage, untrusted } from './message.ts'
import { parseNotification, type ReceivedMail } from './notification.ts'
import { isProcessed, processOnce } from './processed-messages.ts'
import { toReportsAndHits } from './to-reports.ts'

type SnsDeps = Pick<
  Base,
  | 'config'
  | 'store'
  | 'keyring'
  | 'reportUsage'
  | 'inboundNotifier'
  | 'counters'
  | 'now'
  | 'log'
  | 'publicFetch'
>

export type SnsReceiver = {
  /** Whether any topic is listed, so that messages can be received. */
  isOpen: boolean
  /**
   * Receives a message. `body`: its parsed JSON. Resolves when SNS need not try again.
   * @throws AppError, see above
   */
  receive(body: unknown): Promise<void>
}

/** The most recipients of a message; SES accepts no more. */
const MAX_SES_RECIPIENTS = 50

const findOwner = statement((db) =>
  db
    .select({ projectId: domains.projectId })
    .from(domains)
    .where(and(eq(domains.domain, parameter('domain')), eq(domains.isVerified, true))),
)

export function createSnsReceiver(deps: SnsDeps): SnsReceiver {
  const authenticate = createAuthentication(deps)
  return {
    isOpen: deps.config.sns.topicArns.length > 0,
    async receive(body) {
      const message = parseSnsMessage(body)
      if (message === undefined) throw untrusted('it is not a message of SNS')
      await logRefusal(deps, message, async () => {
        await authenticate(message)
        await process(deps, message)
      })
    },
  }
}

async function process(deps: SnsDeps, message: SnsMessage): Promise<void> {
  switch (message.type) {
    case 'SubscriptionConfirmation':
      return confirmSubscription(deps, message)
    case 'UnsubscribeConfirmation':
      deps.log.warn({ topicArn: message.topicArn }, 'the subscription to a topic of SNS has ended')
      return
    case 'Notification':
      return acknowledgeFaults(deps, message, () => processNotification(deps, message))
  }
}

/** @throws AppError BAD_REQUEST, RESOURCE_NOT_FOUND, EXTERNAL_SERVICE_ERROR, DATABASE_ERROR */
async function processNotification(
  deps: SnsDeps,
  { message, messageId }: SnsMessage,
): Promise<void> {
  const notification = parseNotification(message)
  if (notification === undefined) return logIgnored(deps, messageId, 'its kind is not used')
  if (notification.kind === 'received') {
    const isAccepted = await acceptReceivedMail(deps, notification, messageId)
    if (!isAccepted) logIgnored(deps, messageId, 'no recipient is known to this server')
    return
  }
  const { providerIds, messageIds } = notification.ids
  if (providerIds.length + messageIds.length === 0) {
    throw new AppError('BAD_REQUEST', 'The notification has no message id.')
  }
  const email = await findReportedEmail(deps, notification.ids)
  const wish = findWish(deps, notification, email)
  if (wish !== undefined) {
    await processOnce(deps, messageId, (tx) => applyWish(deps, tx, wish))
    return
  }
  if (email === undefined) throw noEmail([...messageIds, ...providerIds][0])
  if (notification.kind === 'delivery' && email.state === 'sending') {
    throw new AppError('EXTERNAL_SERVICE_ERROR', 'The email is still being sent.')
  }
  const { reports, hits } = toReportsAndHits(notification, email, deps.now())
  await processOnce(deps, messageId, async (tx) => {
    await recordReports(deps, tx, reports)
    await recordHits(deps, tx, hits)
  })
}

/**
 * Applies the wish of a complaint about a deleted email.
 * @throws AppError RESOURCE_NOT_FOUND when nothing is known about the email any more
 */
async function applyWish(
  deps: SnsDeps,
  tx: Tx,
  { email: { emailId, digest }, reason }: ReportedWish,
): Promise<void> {
  const link = { contactId: undefined, emailId, digest }
  const isChanged = await applySubscriptionRequest(deps, tx, { link, subscribed: false, reason })
  if (isChanged === undefined) throw noEmail(emailId)
}

function noEmail(id = ''): AppError {
  return notFound('email', id, 'There is no such email.')
}

/** Logs a fault that every retry would repeat, and acknowledges the message. */
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

function logIgnored({ log }: SnsDeps, messageId: string, why: string): void {
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

/**
 * Confirms the subscription to a listed topic by fetching the URL that SNS sent for it.
 * @throws AppError FORBIDDEN, EXTERNAL_SERVICE_ERROR
 */
async function confirmSubscription(
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

/**
 * Accepts mail that SES received for a domain of this server: it is stored and processed like mail
 * by SMTP. The domain's MX is a host of SES, so the domain only needs to be verified. Return paths and
 * unsubscribe addresses that this server signed are accepted at any domain. Returns false when no
 * recipient is at a domain of this server.
 * @throws AppError EXTERNAL_SERVICE_ERROR while a mailbox is full: SNS tries again
 */
async function acceptReceivedMail(
  deps: Pick<Base, 'config' | 'store' | 'keyring' | 'inboundNotifier' | 'now'>,
  mail: ReceivedMail,
  notificationId: string,
): Promise<boolean> {
  const recipients = await findRecipients(deps, mail.recipients.slice(0, MAX_SES_RECIPIENTS))
  if (recipients.length === 0) return false
  const { reversePath, clientAddress, clientName, content } = mail
  const message = { reversePath, recipients, clientAddress, clientName, content: [content] }
  try {
    await processOnce(deps, notificationId, async (tx) => {
      await insertInboundMessage(deps, tx, { ...message, protocol: 'HTTP', tls: null })
    })
  } catch (cause) {
    if (!(cause instanceof MailboxFull)) throw cause
    throw new AppError('EXTERNAL_SERVICE_ERROR', 'The mailbox is full.', { cause })
  }
  return true
}

async function findRecipients(
  deps: Pick<Base, 'store' | 'keyring'>,
  given: readonly string[],
): Promise<InboundRecipient[]> {
  const found = new Map<string, InboundRecipient>()
  for (const text of given) {
    const parsed = parseAddress(text)
    if (parsed === undefined) continue
    const recipient = readSigned(deps, parsed) ?? (await findMailbox(deps, parsed))
    if (recipient !== undefined) found.set(parsed.address, recipient)
  }
  return [...found.values()]
}

async function findMailbox(
  { store }: Pick<Base, 'store'>,
  { address, domain }: ParsedAddress,
): Promise<InboundRecipient | undefined> {
  const owner = await store.read.find(findOwner, { domain })
  return owner && { for: 'mailbox', address, projectId: owner.projectId }
}
