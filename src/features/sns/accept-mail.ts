/**
 * Accepts mail that SES received for a domain of this server: it is stored and processed like mail
 * by SMTP. The domain's MX is a host of SES, so the domain only needs to be verified.
 */
import { AppError } from '../../errors.ts'
import { parseAddress } from '../../mail/address/address.ts'
import { and, eq } from '../../store/drizzle.ts'
import { domains } from '../../store/schema/domains.ts'
import type { InboundRecipient } from '../../store/schema/inbound.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'
import { insertInboundMessage } from '../receiving/accept/accept-message.ts'
import { MailboxFull } from '../receiving/accept/quota.ts'
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
  deps: Pick<Base, 'config' | 'store' | 'inboundNotifier' | 'now'>,
  mail: ReceivedMail,
  notificationId: string,
): Promise<boolean> {
  const recipients = await findMailboxes(deps, mail.recipients.slice(0, MAX_RECIPIENTS))
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

async function findMailboxes(
  { store }: Pick<Base, 'store'>,
  given: readonly string[],
): Promise<InboundRecipient[]> {
  const found = new Map<string, InboundRecipient>()
  for (const text of given) {
    const parsed = parseAddress(text)
    if (parsed === undefined) continue
    const owner = await store.read.find(findOwner, { domain: parsed.domain })
    if (owner === undefined) continue
    const { address } = parsed
    found.set(address, { for: 'mailbox', address, projectId: owner.projectId })
  }
  return [...found.values()]
}
