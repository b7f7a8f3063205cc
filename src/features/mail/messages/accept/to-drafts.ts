/**
 * Turns a plan into the rows of emails that are accepted, with the snapshots that they are rendered from, and into
 * the changes of the contacts of its recipients.
 */

import type { NamedMailbox } from '../../../../formats/address/named-mailbox.ts'
import { newId } from '../../../../store/ids.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import type { ContactData, Snapshot } from '../../../../store/schema/json-values.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { ContactEntry, SubscriptionRule } from '../../../people/contacts/write/next-contact.ts'
import { sealSnapshot } from '../delivery/sealed-snapshots.ts'
import { giveUpAfterMs } from '../queue/give-up.ts'
import { isDomainHeld } from '../queue/holds.ts'
import type { AcceptDeps, EmailDraft } from './email-drafts.ts'
import type { EmailPlan, SendRequest } from './plan.ts'

type DraftParts = {
  contentId: string
  /** In the order of the recipients. */
  contacts: readonly Pick<Contact, 'id' | 'data'>[]
  /** Addresses that get no mail. */
  suppressed: ReadonlySet<string>
  /** Held domains, as of this transaction. */
  held: ReadonlySet<string>
}

/** One row for each recipient of the plan, in their order. */
export function toDrafts(deps: AcceptDeps, plan: EmailPlan, parts: DraftParts): EmailDraft[] {
  const { project, request, template, sender, origin, at } = plan
  const { contentId, suppressed, held } = parts
  const giveUpAt = at + giveUpAfterMs(deps.config, origin.class)
  const subject = origin.platform?.subject ?? request.subject ?? template?.subject ?? ''
  const givenId = givenMessageId(request.headers)
  return parts.contacts.flatMap((contact, index): EmailDraft[] => {
    const recipient = request.to[index]
    if (recipient === undefined) return []
    const { address, domain } = recipient.address
    const id = newId()
    const state = suppressed.has(address) ? 'suppressed' : held.has(domain) ? 'held' : 'queued'
    return [
      {
        id,
        projectId: project.id,
        contactId: contact.id,
        contentId,
        sourceType: origin.source,
        templateId: template?.id ?? null,
        campaignId: origin.campaignId ?? null,
        workflowExecutionId: null,
        workflowStepExecutionId: null,
        recipient: address,
        recipientDomain: domain,
        toName: recipient.name,
        fromAddress: sender.address,
        fromName: sender.name ?? project.name,
        replyTo: sender.replyTo,
        subject,
        contentClass: plan.contentClass,
        isTracked: request.tracking ?? project.tracking === 'ENABLED',
        headers: request.headers ?? null,
        ...storedSnapshot(deps, plan, { contact, state }),
        messageId: givenId ?? `${id}@${plan.senderDomain.domain}`,
        queueClass: origin.class,
        giveUpAt,
        isTest: origin.isTest ?? false,
        isPlatform: origin.platform !== undefined,
        ignoresComplaint: origin.platform?.ignoresComplaint ?? false,
        error: null,
        state,
        at,
      },
    ]
  })
}

/**
 * Returns the data that an email is rendered from: the contact's present values, without those that
 * the request replaces, and the values of the request.
 */
export function takeSnapshot(stored: ContactData | null, request: ContactData): Snapshot {
  if (stored === null) return { stored: {}, request }
  const own = Object.entries(stored).filter(([key]) => !Object.hasOwn(request, key))
  return { stored: Object.fromEntries(own), request }
}

/** Whether the emails go to subscribed contacts only. */
export function needsSubscription({ contentClass, origin }: EmailPlan): boolean {
  return contentClass === 'MARKETING' && origin.isTest !== true
}

/**
 * Whether the request is for a single contact: only then can the request state that this person
 * wants mail again.
 */
export function isForOne({ to }: EmailPlan['request']): boolean {
  return to.every(({ address }) => address.address === to[0]?.address.address)
}

export function toRule({ project, request, at }: EmailPlan): SubscriptionRule {
  return {
    projectId: project.id,
    subscribed: request.subscribed,
    subscribedByDefault: false,
    newWish: isForOne(request) ? 'explicit' : undefined,
    at,
  }
}

/**
 * Returns the change of a recipient's contact. A `name` in the request's data, even if null,
 * replaces the name of the mailbox. A test changes no data of contacts.
 */
export function toEntry(
  { data, origin }: EmailPlan,
  { address, name }: NamedMailbox,
): ContactEntry {
  const isKept = name === null || origin.isTest === true
  return { address, changes: isKept ? data.changes : { name, ...data.changes } }
}

/** Returns the held domains of the recipients; a hold in the cache may have ended by now. */
export async function confirmHeldDomains(
  tx: Tx,
  plans: readonly Pick<EmailPlan, 'request' | 'heldDomains'>[],
): Promise<Set<string>> {
  const asked = new Set<string>()
  const held = new Set<string>()
  for (const { request, heldDomains } of plans) {
    if (heldDomains.size === 0) continue
    for (const { address } of request.to) {
      const { domain } = address
      if (asked.has(domain) || !heldDomains.has(domain)) continue
      asked.add(domain)
      if (await isDomainHeld(tx, domain)) held.add(domain)
    }
  }
  return held
}

/**
 * The snapshot of mail of the server to its users is sealed, because its links choose passwords. An
 * email of this kind that will never be sent keeps no snapshot.
 */
function storedSnapshot(
  deps: AcceptDeps,
  plan: EmailPlan,
  { contact, state }: Pick<EmailDraft, 'state'> & { contact: Pick<Contact, 'data'> },
): Pick<EmailDraft, 'variables' | 'sealedVariables'> {
  const snapshot = snapshotFor(plan, contact)
  if (plan.origin.platform === undefined) return { variables: snapshot, sealedVariables: null }
  const sealedVariables = state === 'suppressed' ? null : sealSnapshot(deps, snapshot)
  return { variables: null, sealedVariables }
}

function snapshotFor({ reader, data }: EmailPlan, contact: Pick<Contact, 'data'>): Snapshot {
  if (reader === undefined) return takeSnapshot(contact.data, data.variables)
  const { id, address: email, subscribed } = reader
  return { ...takeSnapshot(reader.data, data.variables), reader: { id, email, subscribed } }
}

/** Returns the Message-ID that the request names; undefined if it names none. */
function givenMessageId(headers: SendRequest['headers']): string | undefined {
  for (const [name, value] of Object.entries(headers ?? {})) {
    const given = name.toLowerCase() === 'message-id' ? value.trim().replace(/^<|>$/g, '') : ''
    if (given !== '') return given
  }
  return undefined
}
