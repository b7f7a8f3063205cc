/**
 * Accepts planned emails in the caller's transaction: contacts, content, one row per recipient. They
 * count for the limits of their project, except mail of the server and emails to suppressed addresses.
 *
 * `planEmails` (`plan.ts`) has checked the request and stored large attachments before the transaction
 * began; a refusal here must roll the caller's transaction back. Nothing is rendered yet: each row has
 * the snapshot that it is rendered from.
 */
import { AppError } from '../../../errors.ts'
import type { NamedMailbox } from '../../../mail/address/named-mailbox.ts'
import { attachedBytes } from '../../../mail/compose/attachment.ts'
import { newId } from '../../../store/ids.ts'
import type { Contact, ContactData } from '../../../store/schema/contacts.ts'
import type { Snapshot } from '../../../store/schema/messages.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { findKnownAddresses, type KnownAddresses } from '../../contacts/read/known-addresses.ts'
import { upsertContacts } from '../../contacts/write/upsert.ts'
import { categoryOf } from '../../usage/categories.ts'
import { sealSnapshot } from '../delivery/sealed-snapshot.ts'
import { isSuppressed } from '../outcome/suppression.ts'
import { giveUpAfterMs } from '../queue/give-up-after.ts'
import { isDomainHeld } from '../queue/holds.ts'
import { writeContent } from './content.ts'
import { countAccepted } from './count-accepted.ts'
import {
  type AcceptDeps,
  type AcceptedEmail,
  type EmailDraft,
  insertDrafts,
} from './email-drafts.ts'
import type { EmailPlan, SendRequest } from './plan.ts'

/** Limits of a write that shares its transaction with others (`store/write/writer.ts`). */
const LIGHT_RECIPIENTS = 50
const LIGHT_CHARACTERS = 512 * 1024

/** Whether the plan needs its own transaction: a recipient takes 50 us, a megabyte 5 ms. */
export function isHeavy({ request, data, content }: EmailPlan): boolean {
  const { body, text, attachments } = content
  const copied = JSON.stringify([data.variables, request.headers]).length * request.to.length
  const once = body.length + (text?.length ?? 0) + attachedBytes(attachments ?? [])
  return request.to.length > LIGHT_RECIPIENTS || copied + once > LIGHT_CHARACTERS
}

/**
 * Writes the emails of a plan, one for each recipient and in their order. The queue is notified
 * when the transaction is durable.
 * @throws AppError RATE_LIMIT_EXCEEDED (`limits.new_project_daily`), BILLING_LIMIT_EXCEEDED, BAD_REQUEST
 *   (marketing to an unsubscribed contact), DATABASE_ERROR
 */
export async function acceptEmails(
  deps: AcceptDeps,
  tx: Tx,
  plan: EmailPlan,
): Promise<AcceptedEmail[]> {
  const { project, request } = plan
  const addresses = request.to.map(({ address }) => address.address)
  const known = await findKnownAddresses(tx, project.id, addresses)
  if (needsSubscription(plan)) refuseUnsubscribed(request, known)
  const suppressed = await withoutIgnored(tx, plan, known.suppressed)
  const count = addresses.filter((address) => !suppressed.has(address)).length
  await countPlanned(deps, tx, { plan, count })
  const contentId = await writeContent(tx, plan.content)
  const contacts = await upsertRecipients(tx, plan, known)
  const held = await confirmHeld(tx, plan)
  const drafts = contacts.flatMap(({ contact }, index): EmailDraft[] => {
    const recipient = request.to[index]
    if (recipient === undefined) return []
    const draft = draftEmail(deps, plan, { contentId, recipient, contact })
    const state = stateOf(draft, { suppressed, held })
    // It will never be sent.
    const cleared = state === 'suppressed' ? { sealedVariables: null } : {}
    return [{ ...draft, ...cleared, state }]
  })
  await insertDrafts(deps, tx, { drafts, at: plan.at })
  return drafts
}

function needsSubscription({ contentClass, origin }: EmailPlan): boolean {
  return contentClass === 'MARKETING' && origin.isTest !== true
}

/** Before any write, because a closure that fails after one makes its group run again. */
function refuseUnsubscribed(
  request: EmailPlan['request'],
  { contacts, left }: Pick<KnownAddresses, 'contacts' | 'left'>,
): void {
  const clearsWishes = isForOne(request)
  for (const { address } of request.to) {
    const isKept = left.has(address.address) && !clearsWishes
    const isSubscribed = request.subscribed ?? contacts.get(address.address)?.subscribed
    if (isKept || !isSubscribed) throw notSubscribed(address.address)
  }
}

/** Only a request for one contact says in so many words that this person wants mail again. */
function isForOne({ to }: EmailPlan['request']): boolean {
  return to.every(({ address }) => address.address === to[0]?.address.address)
}

async function countPlanned(
  deps: AcceptDeps,
  tx: Tx,
  { plan: { project, origin, at }, count }: { plan: EmailPlan; count: number },
): Promise<void> {
  if (origin.platform !== undefined) return
  await countAccepted(deps, tx, { project, category: categoryOf(origin.source), count, at })
}

/** Leaves out the addresses whose suppression the emails ignore. */
async function withoutIgnored(
  tx: Tx,
  { project, origin }: EmailPlan,
  listed: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  if (origin.platform?.ignoresComplaint !== true) return listed
  const counting = new Set<string>()
  for (const address of listed) {
    const suppression = { projectId: project.id, address, ignoresComplaint: true }
    if (await isSuppressed(tx, suppression)) counting.add(address)
  }
  return counting
}

async function upsertRecipients(tx: Tx, plan: EmailPlan, known: KnownAddresses) {
  const { project, request, data, at } = plan
  const contacts = await upsertContacts(
    tx,
    {
      projectId: project.id,
      subscribed: request.subscribed,
      subscribedByDefault: false,
      newWish: isForOne(request) ? 'explicit' : undefined,
      reason: 'api',
      at,
      known,
    },
    request.to.map(({ address, name }) => ({
      address,
      // What the request's data say of the name counts, also a null.
      changes: name === null ? data.changes : { name, ...data.changes },
    })),
  )
  // A suppressed address stays unsubscribed, also if the request subscribes it.
  if (needsSubscription(plan)) {
    for (const { contact } of contacts)
      if (!contact.subscribed) throw notSubscribed(contact.address)
  }
  return contacts
}

/** Returns the held domains of the recipients; a hold in the cache may have ended by now. */
async function confirmHeld(tx: Tx, { request, heldDomains }: EmailPlan): Promise<Set<string>> {
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

function notSubscribed(address: string): AppError {
  return new AppError(
    'BAD_REQUEST',
    `${address} is not subscribed, and this template is marketing: nothing was sent.`,
    { suggestion: 'Send a TRANSACTIONAL template, or only to subscribed contacts.' },
  )
}

function draftEmail(
  deps: AcceptDeps,
  plan: EmailPlan,
  parts: {
    contentId: string
    recipient: NamedMailbox
    contact: { id: string; data: ContactData | null }
  },
): Omit<EmailDraft, 'state'> {
  const { project, request, template, sender, origin, at } = plan
  const id = newId()
  const { contentId, recipient, contact } = parts
  return {
    id,
    projectId: project.id,
    contactId: contact.id,
    contentId,
    sourceType: origin.source,
    templateId: template?.id ?? null,
    campaignId: origin.campaignId ?? null,
    workflowExecutionId: null,
    workflowStepExecutionId: null,
    recipient: recipient.address.address,
    recipientDomain: recipient.address.domain,
    toName: recipient.name,
    fromAddress: sender.address,
    fromName: sender.name ?? project.name,
    replyTo: sender.replyTo,
    subject: origin.platform?.subject ?? request.subject ?? template?.subject ?? '',
    contentClass: plan.contentClass,
    isTracked: request.tracking ?? project.tracking === 'ENABLED',
    headers: request.headers ?? null,
    ...storedSnapshot(deps, plan, snapshotFor(plan, contact)),
    messageId: chooseMessageId(id, plan.senderDomain.domain, request.headers),
    queueClass: origin.class,
    giveUpAt: at + giveUpAfterMs(deps.config, origin.class),
    isTest: origin.isTest ?? false,
    isPlatform: origin.platform !== undefined,
    ignoresComplaint: origin.platform?.ignoresComplaint ?? false,
    error: null,
    at,
  }
}

/** Mail of the server to its users is sealed, because its links choose passwords. */
function storedSnapshot(
  deps: AcceptDeps,
  { origin }: EmailPlan,
  snapshot: Snapshot,
): Pick<EmailDraft, 'variables' | 'sealedVariables'> {
  if (origin.platform === undefined) return { variables: snapshot, sealedVariables: null }
  return { variables: null, sealedVariables: sealSnapshot(deps, snapshot) }
}

function snapshotFor({ reader, data }: EmailPlan, contact: Pick<Contact, 'data'>): Snapshot {
  if (reader === undefined) return takeSnapshot(contact.data, data.variables)
  const { id, address: email, subscribed } = reader
  return { ...takeSnapshot(reader.data, data.variables), reader: { id, email, subscribed } }
}

/** The contact's values as of now, apart from the values of the request. */
export function takeSnapshot(stored: ContactData | null, request: ContactData): Snapshot {
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
