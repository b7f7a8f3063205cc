/**
 * Accepts mail that SES received for a domain of this server: it is stored and processed like mail
 * by SMTP. The domain's MX is a host of SES, so the domain only needs to be verified. Return paths and
 * unsubscribe addresses that this server signed are accepted at any domain.
 */
import { AppError } from '../../../base/errors.ts'
import { type ParsedAddress, parseAddress } from '../../../formats/address/address.ts'
import { and, eq } from '../../../store/drizzle.ts'
import { domains } from '../../../store/schema/domains.ts'
import type { InboundRecipient } from '../../../store/schema/json-values.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { insertInboundMessage } from '../receiving/accept/accept-message.ts'
import { readSigned } from '../receiving/accept/admit-recipient.ts'
import { MailboxFull } from '../receiving/limits.ts'
import type { ReceivedMail } from './notification.ts'
import { processOnce } from './processed-messages.ts'

/** SES accepts 50 recipients for a message. */
const MAX_RECIPIENTS = 50

const findOwner = statement((db) =>
  db
    .select({ projectId: domains.projectId })
    .from(domains)
    .where(and(eq(domains.domain, parameter('domain')), eq(domains.isVerified, true))),
)

/**
 * Returns false when no recipient is at a domain of this server.
 * @throws AppError EXTERNAL_SERVICE_ERROR while a mailbox is full: SNS tries again
 */
export async function acceptReceivedMail(
  deps: Pick<Base, 'config' | 'store' | 'keyring' | 'inboundNotifier' | 'now'>,
  mail: ReceivedMail,
  notificationId: string,
): Promise<boolean> {
  const recipients = await findRecipients(deps, mail.recipients.slice(0, MAX_RECIPIENTS))
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
