/**
 * Accepts an email that a workflow sends: to a contact, or about a contact to an address of its
 * own. No contact is made or changed. The email always becomes a row. An email that may not be sent
 * ends at once, as it would when the queue claims it (`delivery/prepare.ts`):
 *
 *   suppressed    the recipient's address is on the suppression list
 *   failed        marketing, and the contact has unsubscribed, unless it bypasses the subscription
 *   held, queued  as any email. Only these count for the limits of the project
 */
import { WORKFLOW_CLASS } from '../../../../base/queue-class.ts'
import type { ParsedAddress } from '../../../../formats/address/address.ts'
import { newId } from '../../../../store/ids.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import type { ContactData, Snapshot } from '../../../../store/schema/json-values.ts'
import type { Template } from '../../../../store/schema/messages.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { categoryOf } from '../../../ground/usage/categories.ts'
import { UNSUBSCRIBED } from '../delivery/prepare.ts'
import { isSuppressed } from '../outcome/suppression.ts'
import { giveUpAfterMs } from '../queue/give-up.ts'
import { isDomainHeld } from '../queue/holds.ts'
import { type ContentDraft, writeContent } from './content.ts'
import {
  type AcceptDeps,
  type AcceptedEmail,
  type EmailDraft,
  insertDrafts,
} from './email-drafts.ts'
import { countAccepted } from './new-project-cap.ts'
import { type EmailOrigin, type EmailPlan, planEmails } from './plan.ts'

export type WorkflowEmail = {
  plan: TemplatePlan
  /** The contact as this transaction has read it. */
  contact: Pick<Contact, 'id' | 'address' | 'subscribed' | 'data'>
  /** The contact's address, or another one. */
  recipient: ParsedAddress
  executionId: string
  stepExecutionId: string
  /**
   * Values for the template that override the contact's. They come from events, and so from
   * strangers: they are escaped as values of contacts are.
   */
  storedVariables: ContactData
  /**
   * Whether the email is sent even if the contact has unsubscribed. If absent: true when the
   * recipient's address is not the contact's, as with an address that the step names.
   */
  bypassesSubscription?: boolean
  /** Whether the workflow answers received mail. */
  isAnswer: boolean
  at: number
}

export type TemplatePlan = Pick<
  EmailPlan,
  'project' | 'sender' | 'senderDomain' | 'contentClass' | 'heldDomains'
> & {
  template: Template
  /** Writes the content, once in a transaction. Returns the id of the content's row. */
  contentIn(tx: Tx): Promise<string>
}

const WORKFLOW_ORIGIN: EmailOrigin = { source: 'WORKFLOW', class: WORKFLOW_CLASS }

/**
 * The queue is notified when the transaction is durable.
 * @throws AppError RATE_LIMIT_EXCEEDED (`limits.new_project_daily`) and BILLING_LIMIT_EXCEEDED, before any
 *   write; DATABASE_ERROR
 */
export async function acceptForContact(
  deps: AcceptDeps,
  tx: Tx,
  email: WorkflowEmail,
): Promise<AcceptedEmail> {
  const state = await stateOf(tx, email)
  if (state === 'queued' || state === 'held') await countEmail(deps, tx, email)
  const contentId = await email.plan.contentIn(tx)
  const draft = { ...toDraft(deps, email, contentId), state, error: errorOf(state) }
  await insertDrafts(deps, tx, [draft])
  return draft
}

/**
 * Plans emails of a template without their recipients: a step of a workflow needs this plan once for many executions.
 * The plan holds what was current when it was made (template, sender domain, holds), so it serves one batch and is
 * then made anew. @throws AppError TEMPLATE_NOT_FOUND, FORBIDDEN (sender domain)
 */
export async function planTemplate(
  deps: Pick<Base, 'config' | 'directory' | 'store'>,
  { project, templateId }: { project: Project; templateId: string },
  at: number,
): Promise<TemplatePlan> {
  const request = { to: [], template: templateId }
  const plan = await planEmails(deps, { project, request, origin: WORKFLOW_ORIGIN }, at)
  const { template, sender, senderDomain, contentClass, heldDomains, content } = plan
  if (template === undefined) throw new TypeError('The request names a template.')
  const parts = { project, sender, senderDomain, contentClass, heldDomains }
  return { ...parts, template, contentIn: onceIn(content) }
}

/** The category of usage in which emails of the template count. */
function sourceOf({ contentClass }: TemplatePlan): 'TRANSACTIONAL' | 'WORKFLOW' {
  return contentClass === 'TRANSACTIONAL' ? 'TRANSACTIONAL' : 'WORKFLOW'
}

async function countEmail(deps: AcceptDeps, tx: Tx, { plan, at }: WorkflowEmail): Promise<void> {
  const category = categoryOf(sourceOf(plan))
  await countAccepted(deps, tx, { project: plan.project, category, count: 1, at })
}

async function stateOf(tx: Tx, email: WorkflowEmail): Promise<EmailDraft['state']> {
  const { plan, recipient, contact } = email
  const { address, domain } = recipient
  if (await isSuppressed(tx, { projectId: plan.project.id, address })) return 'suppressed'
  const isMarketing = plan.contentClass !== 'TRANSACTIONAL'
  if (isMarketing && !contact.subscribed && !doesBypass(email)) return 'failed'
  return plan.heldDomains.has(domain) && (await isDomainHeld(tx, domain)) ? 'held' : 'queued'
}

function errorOf(state: EmailDraft['state']): string | null {
  return state === 'failed' ? UNSUBSCRIBED : null
}

function doesBypass({ bypassesSubscription, recipient, contact }: WorkflowEmail): boolean {
  return bypassesSubscription ?? recipient.address !== contact.address
}

function toDraft(
  deps: AcceptDeps,
  email: WorkflowEmail,
  contentId: string,
): Omit<EmailDraft, 'state' | 'error'> {
  const { plan, contact, recipient, executionId, stepExecutionId, at } = email
  const { project, template, sender, contentClass } = plan
  const id = newId()
  return {
    id,
    projectId: project.id,
    contactId: contact.id,
    contentId,
    sourceType: sourceOf(plan),
    templateId: template.id,
    campaignId: null,
    workflowExecutionId: executionId,
    workflowStepExecutionId: stepExecutionId,
    recipient: recipient.address,
    recipientDomain: recipient.domain,
    toName: null,
    fromAddress: sender.address,
    fromName: sender.name ?? project.name,
    replyTo: sender.replyTo,
    subject: template.subject,
    contentClass,
    isTracked: isTracked(project, contentClass === 'TRANSACTIONAL'),
    headers: headersOf(email),
    variables: snapshotOf(email),
    sealedVariables: null,
    messageId: `${id}@${plan.senderDomain.domain}`,
    queueClass: WORKFLOW_CLASS,
    giveUpAt: at + giveUpAfterMs(deps.config, WORKFLOW_CLASS),
    isTest: false,
    isPlatform: false,
    ignoresComplaint: false,
    at,
  }
}

/**
 * Returns the header that says that a program sent the mail, so that other programs do not answer
 * it (RFC 3834 section 5). Bulk mail has this header anyway (`build-message.ts`).
 */
function headersOf({ plan, isAnswer }: WorkflowEmail): Record<string, string> | null {
  if (isAnswer) return { 'Auto-Submitted': 'auto-replied', Precedence: 'bulk' }
  return plan.contentClass === 'MARKETING' ? null : { 'Auto-Submitted': 'auto-generated' }
}

function isTracked({ tracking }: Project, isTransactional: boolean): boolean {
  return tracking === 'ENABLED' || (tracking === 'MARKETING_ONLY' && !isTransactional)
}

/**
 * Returns the data that the email is rendered from. An email that bypasses the subscription has a
 * `reader`: the contact for whom it is rendered.
 */
function snapshotOf(email: WorkflowEmail): Snapshot {
  const { id, address, subscribed, data } = email.contact
  const snapshot = { stored: { ...data, ...email.storedVariables }, request: {} }
  if (!doesBypass(email)) return snapshot
  return { ...snapshot, reader: { id, email: address, subscribed } }
}

/**
 * Writes the content once in each transaction. A closure that runs again gets a new transaction, so
 * a row that was rolled back does not count as written.
 */
function onceIn(content: ContentDraft): TemplatePlan['contentIn'] {
  let written: { tx: Tx; id: string } | undefined
  return async (tx) => {
    if (written?.tx !== tx) written = { tx, id: await writeContent(tx, content) }
    return written.id
  }
}
