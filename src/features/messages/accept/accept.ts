/**
 * Accepting a message: the one verb behind POST /v1/send, submission, campaigns and workflow steps.
 *
 * A request is one transaction. Its recipients take effect in order (contact, suppression, email
 * row), and any refusal leaves nothing behind. When the promise resolves, every email is durable;
 * nothing has been rendered yet: each row carries the snapshot it will be rendered from.
 */

import { formatInstant } from '../../../clock.ts'
import { AppError } from '../../../errors.ts'
import { attachedBytes } from '../../../mail/compose/attachment.ts'
import { TRANSACTIONAL_CLASS } from '../../../queue-class.ts'
import { newId } from '../../../store/ids.ts'
import type { Project } from '../../../store/schema/accounts.ts'
import type { Contact, ContactData } from '../../../store/schema/contacts.ts'
import type { Email } from '../../../store/schema/messages.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { discardChunks } from '../../chunks.ts'
import { findKnownAddresses } from '../../contacts/read/known-addresses.ts'
import { upsertContacts } from '../../contacts/write/upsert.ts'
import {
  claimKey,
  type IdempotencyClaims,
  type IdempotentRequest,
  keepKey,
} from '../../requests/idempotency.ts'
import { logOutcome } from '../outcome/log-outcome.ts'
import { giveUpAfterMs } from '../queue/give-up-after.ts'
import { isDomainHeld } from '../queue/holds.ts'
import type { QueueNotifier } from '../queue/notifier.ts'
import { storeAttachments } from './attachment-chunks.ts'
import { type ContentDraft, writeContent } from './content.ts'
import { type EmailDraft, insertEmails } from './email-row.ts'
import { type NamedAddress, type Plan, planRequest, type SendRequest } from './plan.ts'

export type AcceptInput = {
  project: Project
  request: SendRequest
  idempotency?: { key: string; method: string; path: string } | undefined
}

export type Accepted = {
  emails: { contact: { id: string; email: string }; email: string }[]
  timestamp: string
}

export type AcceptDeps = Pick<
  Base,
  'store' | 'config' | 'directory' | 'counters' | 'now' | 'log'
> & { claims: IdempotencyClaims; queueNotifier: QueueNotifier }

/** What a request may have and still be written among others (store/write/writer.ts). */
const LIGHT_RECIPIENTS = 50
const LIGHT_CHARACTERS = 512 * 1024

/**
 * @throws AppError TEMPLATE_NOT_FOUND, VALIDATION_ERROR, FORBIDDEN (sender domain), BAD_REQUEST
 *   (marketing to an unsubscribed contact), IDEMPOTENCY_KEY_REUSED, DATABASE_ERROR
 */
export async function acceptMessage(deps: AcceptDeps, input: AcceptInput): Promise<Accepted> {
  const at = deps.now()
  const claim = toClaim(input, at)
  return claimKey(deps.claims, claim, async () => {
    const plan = await planRequest(deps, input, at)
    const content = await draftContent(deps, plan)
    const heavyFor = isHeavy(plan, content) ? input.project.id : undefined
    const write = async (tx: Tx) => {
      const emails = await acceptRecipients(deps, tx, { plan, content })
      const answer: Accepted = { emails, timestamp: formatInstant(at) }
      const hours = deps.config.limits.idempotencyHours
      if (claim !== null) await keepKey(tx, claim, { statusCode: 200, answer, hours })
      return answer
    }
    try {
      return await deps.store.write(write, { heavyFor })
    } catch (error) {
      if (content.chunkBytes > 0) await discardChunks(deps.store, content.id)
      throw error
    }
  })
}

/** A recipient takes some 50 us of the writer, a megabyte some 5 ms. */
function isHeavy({ request, data }: Plan, { body, text, attachments }: ContentDraft): boolean {
  const copied = JSON.stringify([data.variables, request.headers]).length * request.to.length
  const once = body.length + (text?.length ?? 0) + attachedBytes(attachments ?? [])
  return request.to.length > LIGHT_RECIPIENTS || copied + once > LIGHT_CHARACTERS
}

function toClaim({ project, idempotency }: AcceptInput, at: number): IdempotentRequest | null {
  if (idempotency === undefined) return null
  return { projectId: project.id, at, ...idempotency }
}

async function acceptRecipients(
  deps: AcceptDeps,
  tx: Tx,
  { plan, content }: { plan: Plan; content: ContentDraft },
): Promise<Accepted['emails']> {
  const { project, request } = plan
  const contentId = await writeContent(tx, content)
  const addresses = request.to.map(({ address }) => address.address)
  const { contacts: found, suppressed } = await findKnownAddresses(tx, project.id, addresses)
  const contacts = await upsertRecipients(tx, plan, found)
  const held = await confirmHeld(tx, plan)
  const drafts = contacts.flatMap(({ contact }, index): EmailDraft[] => {
    const recipient = request.to[index]
    if (recipient === undefined) return []
    const draft = draftEmail(deps, plan, { contentId, recipient, contact })
    return [{ ...draft, state: stateOf(draft, { suppressed, held }) }]
  })
  await insertEmails(tx, drafts)
  tx.afterCommit(() => tell(deps, drafts))
  return drafts.map(({ id, contactId, recipient }) => ({
    contact: { id: contactId, email: recipient },
    email: id,
  }))
}

function tell(
  deps: Pick<Base, 'log' | 'counters'> & { queueNotifier: QueueNotifier },
  drafts: readonly EmailDraft[],
): void {
  for (const draft of drafts) {
    const { state } = draft
    if (state === 'queued') deps.queueNotifier.notify(callFor(draft))
    else if (state === 'suppressed') logOutcome(deps, { email: draft, outcome: state, attempts: 0 })
  }
}

async function upsertRecipients(
  tx: Tx,
  { project, request, data, contentClass, at }: Plan,
  found: ReadonlyMap<string, Contact>,
) {
  const contacts = await upsertContacts(
    tx,
    {
      projectId: project.id,
      subscribed: request.subscribed,
      subscribedByDefault: false,
      reason: 'api',
      at,
      known: { contacts: found },
    },
    request.to.map(({ address, name }) => ({
      address,
      changes: name === null ? data.changes : { ...data.changes, name },
    })),
  )
  if (contentClass === 'MARKETING') {
    for (const { contact } of contacts)
      if (!contact.subscribed) throw notSubscribed(contact.address)
  }
  return contacts
}

/** Of the recipients' domains, those held back: a remembered hold may be over by now. */
async function confirmHeld(tx: Tx, { request, heldDomains }: Plan): Promise<Set<string>> {
  const held = new Set<string>()
  if (heldDomains.size === 0) return held
  const domains = new Set(request.to.map(({ address }) => address.domain))
  for (const domain of domains) {
    if (heldDomains.has(domain) && (await isDomainHeld(tx, domain))) held.add(domain)
  }
  return held
}

function stateOf(
  { recipient, recipientDomain }: Omit<EmailDraft, 'state'>,
  { suppressed, held }: { suppressed: ReadonlySet<string>; held: ReadonlySet<string> },
): EmailDraft['state'] {
  if (suppressed.has(recipient)) return 'suppressed'
  return held.has(recipientDomain) ? 'held' : 'queued'
}

function callFor({ queueClass, recipientDomain, projectId, at }: EmailDraft) {
  return { queueClass, domain: recipientDomain, projectId, dueAt: at }
}

function notSubscribed(address: string): AppError {
  return new AppError(
    'BAD_REQUEST',
    `${address} is not subscribed, and this template is marketing: nothing was sent.`,
    { suggestion: 'Send a TRANSACTIONAL template, or only to subscribed contacts.' },
  )
}

async function draftContent(
  deps: AcceptDeps,
  { project, request, template, at }: Plan,
): Promise<ContentDraft> {
  const attachments = request.attachments ?? []
  const id = newId()
  const isTemplateItself =
    template !== undefined &&
    request.subject === undefined &&
    request.body === undefined &&
    request.text === undefined &&
    attachments.length === 0
  return {
    id,
    projectId: project.id,
    shareKey: isTemplateItself ? `template ${template.id} ${template.version}` : null,
    subject: request.subject ?? template?.subject ?? '',
    body: request.body ?? template?.body ?? '',
    isText: request.isText ?? false,
    text: request.text ?? null,
    at,
    ...(await storeAttachments(deps, { projectId: project.id, contentId: id }, attachments)),
  }
}

function draftEmail(
  deps: AcceptDeps,
  plan: Plan,
  of: {
    contentId: string
    recipient: NamedAddress
    contact: { id: string; data: ContactData | null }
  },
): Omit<EmailDraft, 'state'> {
  const { project, request, template, sender, at } = plan
  const id = newId()
  const { domain } = of.recipient.address
  return {
    id,
    projectId: project.id,
    contactId: of.contact.id,
    contentId: of.contentId,
    sourceType: 'TRANSACTIONAL',
    templateId: template?.id ?? null,
    recipient: of.recipient.address.address,
    recipientDomain: domain,
    toName: of.recipient.name,
    fromAddress: sender.address,
    fromName: sender.name ?? project.name,
    replyTo: sender.replyTo,
    subject: request.subject ?? template?.subject ?? '',
    contentClass: plan.contentClass,
    isTracked: request.tracking ?? project.tracking === 'ENABLED',
    headers: request.headers ?? null,
    variables: takeSnapshot(of.contact.data, plan.data.variables),
    messageId: chooseMessageId(id, plan.senderDomain.domain, request.headers),
    queueClass: TRANSACTIONAL_CLASS,
    giveUpAt: at + giveUpAfterMs(deps.config, TRANSACTIONAL_CLASS),
    at,
  }
}

/** The contact's values as they are now; what the request itself gave stands apart. */
function takeSnapshot(stored: ContactData | null, request: ContactData): Email['variables'] {
  const own = Object.entries(stored ?? {}).filter(([key]) => !Object.hasOwn(request, key))
  return { stored: Object.fromEntries(own), request }
}

function chooseMessageId(id: string, domain: string, headers: SendRequest['headers']): string {
  for (const [name, value] of Object.entries(headers ?? {})) {
    const given = name.toLowerCase() === 'message-id' ? value.trim().replace(/^<|>$/g, '') : ''
    if (given !== '') return given
  }
  return `${id}@${domain}`
}
