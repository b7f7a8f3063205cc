/**
 * Delivers mail to a project's mailboxes: as an email of the project with the status RECEIVED,
 * whose contact is the sender. A new sender becomes a contact that is not subscribed; a known sender
 * keeps its state. The server sends no automatic reply message.
 *
 * Loops end here: the project's own mail that comes back raises no event. Mail of one sender beyond
 * a limit per hour (`receiving/limits.ts`) is stored, but its event is marked `isCapped`: people can
 * read the mail, and workflows and filters pass over it (`conditions/automatic-mail.ts`).
 */
import { formatInstant } from '../../../../base/clock.ts'
import { TRANSACTIONAL_CLASS } from '../../../../base/queue-class.ts'
import { type ParsedAddress, parseAddress } from '../../../../formats/address/address.ts'
import { and, eq, isNull } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import { contents, emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { appendEvent } from '../../../ground/events/append.ts'
import { countAlways } from '../../../ground/usage/count.ts'
import { upsertContacts } from '../../../people/contacts/write/upsert.ts'
import { countFromSender } from '../limits.ts'
import { type ApplyDeps, type Effect, ignore, type ReceivedMessage } from './effect.ts'
import { findAnsweredEmail, findChainDepth, readOwnTokens } from './own-mail.ts'
import type { ReadMail } from './parsed-message.ts'

/** The recipients of a message that are mailboxes of one project. */
type Mailboxes = { projectId: string; addresses: readonly string[] }

const findProject = statement((db) =>
  db
    .select({ id: projects.id, resetSince: projects.resetSince })
    .from(projects)
    .where(and(eq(projects.id, parameter('id')), isNull(projects.deletedAt))),
)

const findOwner = statement((db) =>
  db
    .select({ projectId: emails.projectId })
    .from(emails)
    .where(eq(emails.id, parameter('id'))),
)

const insertContent = statement((db) =>
  db.insert(contents).values({
    id: parameter('id'),
    projectId: parameter('projectId'),
    subject: parameter('subject'),
    body: parameter('body'),
    isText: parameter('isText'),
    text: parameter('text'),
    warnings: parameter('warnings'),
    lastUsedAt: parameter('at'),
    createdAt: parameter('at'),
  }),
)

const insertEmail = statement((db) =>
  db.insert(emails).values({
    id: parameter('id'),
    projectId: parameter('projectId'),
    contactId: parameter('contactId'),
    contentId: parameter('contentId'),
    sourceType: 'INBOUND',
    recipient: parameter('recipient'),
    recipientDomain: parameter('recipientDomain'),
    toName: parameter('toName'),
    fromAddress: parameter('mailbox'),
    replyTo: parameter('replyTo'),
    subject: parameter('subject'),
    contentClass: 'TRANSACTIONAL',
    isTracked: false,
    messageId: parameter('messageId'),
    answeredEmailId: parameter('answeredEmailId'),
    state: 'received',
    status: 'RECEIVED',
    queueClass: TRANSACTIONAL_CLASS,
    giveUpAt: parameter('at'),
    deliveredAt: parameter('receivedAt'),
    createdAt: parameter('at'),
    updatedAt: parameter('at'),
  }),
)

export async function deliverToMailboxes(
  deps: ApplyDeps,
  tx: Tx,
  { row, parsed, mail, ...to }: ReceivedMessage & Mailboxes & { mail: ReadMail },
): Promise<Effect> {
  const { header } = parsed
  const [sent] = header.ownToken === null ? [] : readOwnTokens(deps, [header.ownToken])
  if (sent !== undefined && (await isOwn(tx, { ...sent, projectId: to.projectId }))) {
    return ignore('mail of this project came back')
  }
  const sender = chooseSender(mail, row.reversePath)
  if (sender === undefined) return ignore('it has no sender')
  const project = await tx.find(findProject, { id: to.projectId })
  if (project === undefined) return ignore('the project has been deleted')
  if (project.resetSince !== null) return ignore('the project is being reset')
  const at = deps.now()
  const contact = await upsertSender(tx, { ...to, address: sender.address, at })
  const cap = await countFromSender(tx, {
    projectId: to.projectId,
    mailbox: to.addresses[0] ?? '',
    authenticated: mail.isAuthenticated ? sender.address.address : null,
    clientAddress: row.clientAddress,
    at,
  })
  const received = { ...to, id: newId(), at, contact, sender, mail, parsed, row }
  const answered = { projectId: to.projectId, messageIds: header.answers }
  const answeredEmailId = await findAnsweredEmail(tx, answered)
  await insertReceived(tx, { ...received, answeredEmailId })
  await countAlways(deps, tx, { projectId: project.id, category: 'inbound', count: 1, at })
  const depth = await findChainDepth(tx, {
    ...{ sentEmailId: sent?.emailId ?? null, answeredEmailId },
    isAutomatic: parsed.automatic !== null || cap !== undefined,
  })
  const event = { ...received, answeredEmailId, isCapped: cap !== undefined, depth }
  await appendReceivedEvent(tx, event)
  const did = { did: 'received', emailId: received.id } as const
  return cap === undefined ? did : { ...did, why: cap }
}

/**
 * Whether the project itself sent the mail. Mail that another project of this server sent is
 * ordinary mail.
 */
async function isOwn(
  tx: Tx,
  { emailId, projectId }: { emailId: string; projectId: string },
): Promise<boolean> {
  const email = await tx.find(findOwner, { id: emailId })
  return email === undefined || email.projectId === projectId
}

type Author = { address: ParsedAddress; name: string | null }

/** Returns the author (From); if there is none, the reverse path. */
function chooseSender(mail: ReadMail, reversePath: string): Author | undefined {
  if (mail.from !== null) return mail.from
  const address = parseAddress(reversePath)
  return address === undefined ? undefined : { address, name: null }
}

async function upsertSender(
  tx: Tx,
  { projectId, address, at }: { projectId: string; address: ParsedAddress; at: number },
): Promise<Contact> {
  const rule = { subscribed: undefined, subscribedByDefault: false, reason: 'mail' } as const
  const change = { projectId, ...rule, at }
  const [upserted] = await upsertContacts(tx, change, [{ address, changes: {} }])
  if (upserted === undefined) throw new TypeError('upsertContacts returned no contact')
  return upserted.contact
}

type ReceivedEmail = ReceivedMessage &
  Mailboxes & {
    id: string
    at: number
    contact: Contact
    sender: Author
    mail: ReadMail
    answeredEmailId: string | null
  }

async function insertReceived(tx: Tx, received: ReceivedEmail): Promise<void> {
  const { id, projectId, contact, sender, mail, parsed, row, at } = received
  const { subject, messageId } = parsed.header
  const contentId = newId()
  const body = bodyOf(mail)
  const warnings = mail.warnings.length === 0 ? null : mail.warnings
  await tx.execute(insertContent, { id: contentId, projectId, subject, ...body, warnings, at })
  await tx.execute(insertEmail, {
    id,
    projectId,
    contactId: contact.id,
    contentId,
    recipient: contact.address,
    recipientDomain: sender.address.domain,
    toName: sender.name,
    mailbox: received.addresses[0] ?? '',
    replyTo: mail.replyTo?.address ?? null,
    subject,
    messageId: messageId ?? id,
    answeredEmailId: received.answeredEmailId,
    receivedAt: row.receivedAt,
    at,
  })
}

function bodyOf({ html, text }: ReadMail): { body: string; isText: boolean; text: string | null } {
  if (html === null) return { body: text ?? '', isText: true, text: null }
  return { body: html, isText: false, text }
}

/**
 * Appends the event `email.received`. The event has neither body nor text, because the content of
 * the email has those.
 */
async function appendReceivedEvent(
  tx: Tx,
  received: ReceivedEmail & { isCapped: boolean; depth: number | undefined },
): Promise<void> {
  const { id: emailId, projectId, contact, mail, parsed, row, at } = received
  const { header, automatic } = parsed
  const { spf, dkim, dmarc } = mail.verdicts
  await appendEvent(tx, {
    projectId,
    name: 'email.received',
    contactId: contact.id,
    emailId,
    data: {
      messageId: header.messageId,
      from: contact.address,
      fromHeader: header.fromField,
      to: received.addresses[0],
      subject: header.subject,
      timestamp: formatInstant(row.receivedAt),
      recipients: received.addresses,
      hasContent: bodyOf(mail).body !== '',
      spamVerdict: 'DISABLED',
      virusVerdict: 'DISABLED',
      spfVerdict: spf,
      dkimVerdict: dkim,
      dmarcVerdict: dmarc,
      processingTimeMillis: parsed.durationMs,
      attachments: mail.attachments,
      automatic: automatic !== null,
      ...(automatic !== null && { automaticReason: automatic }),
      /** Repeats `automatic` under its older name. */
      autoReply: automatic !== null,
      inReplyTo: received.answeredEmailId,
      ...(mail.isPartial ? { isPartial: true } : {}),
      ...(mail.warnings.length === 0 ? {} : { warnings: mail.warnings }),
      ...(received.isCapped ? { isCapped: true } : {}),
    },
    at,
    depth: received.depth,
  })
}
